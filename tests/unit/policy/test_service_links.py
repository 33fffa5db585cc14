"""Variables that Kubernetes writes for a Service called gainsay are no settings; those that are only like them are."""

from __future__ import annotations

import pytest

from service.errors import SettingsError
from service.policy import settings
from service.policy.service_links import is_service_link
from service.policy.settings import read_settings

HTTP = {
    "GAINSAY_SERVICE_HOST": "10.96.14.7",
    "GAINSAY_SERVICE_PORT": "8321",
    "GAINSAY_SERVICE_PORT_HTTP": "8321",
    "GAINSAY_PORT": "tcp://10.96.14.7:8321",
    "GAINSAY_PORT_8321_TCP": "tcp://10.96.14.7:8321",
    "GAINSAY_PORT_8321_TCP_PROTO": "tcp",
    "GAINSAY_PORT_8321_TCP_PORT": "8321",
    "GAINSAY_PORT_8321_TCP_ADDR": "10.96.14.7",
}
OTHERS = {
    "GAINSAY_SIGNER_SERVICE_HOST": "fd00:10:96::1f",
    "GAINSAY_SIGNER_SERVICE_PORT": "8323",
    "GAINSAY_SIGNER_SERVICE_PORT_ADD_NOTE_2": "8323",
    "GAINSAY_SIGNER_PORT": "tcp://[fd00:10:96::1f]:8323",
    "GAINSAY_SIGNER_PORT_8323_TCP": "tcp://[fd00:10:96::1f]:8323",
    "GAINSAY_SIGNER_PORT_8323_TCP_PROTO": "tcp",
    "GAINSAY_SIGNER_PORT_8323_TCP_PORT": "8323",
    "GAINSAY_SIGNER_PORT_8323_TCP_ADDR": "fd00:10:96::1f",
    "GAINSAY_2ND_LOG_SERVICE_HOST": "10.0.0.1",
    "GAINSAY_DNS_PORT_53_UDP": "udp://10.0.0.1:53",
    "GAINSAY_DNS_PORT_53_UDP_PROTO": "udp",
    "GAINSAY_CALLS_PORT": "sctp://10.0.0.1:38412",
    "GAINSAY_CALLS_PORT_38412_SCTP_PROTO": "sctp",
}


def test_the_variables_of_services_whose_names_begin_with_gainsay_are_passed_over() -> None:
    assert read_settings(HTTP | OTHERS) == read_settings({})


NEAR_MISSES = [
    # a right name and a value that no kubelet writes
    ("GAINSAY_PORT", "8321"),
    ("GAINSAY_PORT", "tcp://gainsay:8321"),
    ("GAINSAY_PORT", "tcp://10.96.14.7"),
    ("GAINSAY_PORT", "tcp://10.96.14.7:0"),
    ("GAINSAY_PORT", "tcp://10.96.14.7:08321"),
    ("GAINSAY_PORT", "tcp://10.96.14.7:65536"),
    ("GAINSAY_PORT", "tcp://10.96.14.300:8321"),
    ("GAINSAY_PORT", "tcp://10.96.14.7:8321/"),
    ("GAINSAY_PORT", "tcp://10.96.14.7:8321\n"),
    ("GAINSAY_PORT", "tcp://a:b@10.96.14.7:8321"),
    ("GAINSAY_PORT", "tcp://fd00::1:8321"),
    ("GAINSAY_PORT", "tcp://[10.96.14.7]:8321"),
    ("GAINSAY_PORT", "TCP://10.96.14.7:8321"),
    ("GAINSAY_PORT", "http://10.96.14.7:8321"),
    ("GAINSAY_PORT", ""),
    ("GAINSAY_SERVICE_HOST", "gainsay.default.svc"),
    ("GAINSAY_SERVICE_HOST", "None"),
    ("GAINSAY_SERVICE_HOST", "10.96.14"),
    ("GAINSAY_SERVICE_HOST", "010.96.14.7"),
    ("GAINSAY_SERVICE_HOST", "10.96.14.7 "),
    ("GAINSAY_SERVICE_HOST", "fe80::1%eth0"),
    ("GAINSAY_SERVICE_HOST", ""),
    ("GAINSAY_SERVICE_PORT", "http"),
    ("GAINSAY_SERVICE_PORT", "-1"),
    ("GAINSAY_SERVICE_PORT", "0"),
    ("GAINSAY_SERVICE_PORT", "70000"),
    ("GAINSAY_SERVICE_PORT", "\u0668\u0663"),
    ("GAINSAY_SERVICE_PORT", "tcp://10.96.14.7"),
    ("GAINSAY_PORT_8321_TCP", "udp://10.96.14.7:8321"),
    ("GAINSAY_PORT_8321_TCP", "tcp://10.96.14.7:8322"),
    ("GAINSAY_PORT_8321_TCP", "8321"),
    ("GAINSAY_PORT_8321_TCP_PROTO", "udp"),
    ("GAINSAY_PORT_8321_TCP_PROTO", "TCP"),
    ("GAINSAY_PORT_8321_TCP_PORT", "8322"),
    ("GAINSAY_PORT_8321_TCP_ADDR", "gainsay"),
    ("GAINSAY_PORT_99999_TCP_PORT", "99999"),
    # a right value under a name that no kubelet writes
    ("GAINSAY_PORTS", "tcp://10.96.14.7:8321"),
    ("GAINSAY__PORT", "tcp://10.96.14.7:8321"),
    ("GAINSAY_port", "tcp://10.96.14.7:8321"),
    ("GAINSAY_PORT_8321", "tcp://10.96.14.7:8321"),
    ("GAINSAY_PORT_8321_HTTP", "tcp://10.96.14.7:8321"),
    ("GAINSAY_PORT_08321_TCP", "tcp://10.96.14.7:8321"),
    ("GAINSAY_PORT_HTTP_TCP", "tcp://10.96.14.7:8321"),
    ("GAINSAY_PORT_8321_TCP_HOST", "10.96.14.7"),
    ("GAINSAY_HOST", "10.96.14.7"),
    ("GAINSAY_SERVICE", "10.96.14.7"),
    ("GAINSAY_SERVICE_HOSTS", "10.96.14.7"),
    ("GAINSAY_SERVICE_HOST_HTTP", "10.96.14.7"),
    ("GAINSAY_SERVICE_PORT_", "8321"),
    ("GAINSAY_SERVICE_PORT_8321", "8321"),
    ("GAINSAY_SERVICE_PORT_A__B", "8321"),
    ("GAINSAY_SERVICE_PORT_B_", "8321"),
    ("GAINSAY_SERVICE_PORT_LONGER_THAN_15_C", "8321"),
    (f"GAINSAY_{'X' * 56}_SERVICE_HOST", "10.96.14.7"),
    ("GAINSAY_DATABSE_URL", "tcp://10.96.14.7:5432"),
]


@pytest.mark.parametrize(("name", "value"), NEAR_MISSES)
def test_what_is_only_like_them_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings(HTTP | {name: value})

    assert f"unknown setting {name};" in error.value.detail


@pytest.mark.parametrize("name", settings.KNOWN)
@pytest.mark.parametrize("value", ["tcp://10.96.14.7:8321", "10.96.14.7", "8321", "tcp"])
def test_no_setting_has_a_name_that_could_be_passed_over(name: str, value: str) -> None:
    """A new setting such as GAINSAY_PORT would make this fail; then another name is the better one."""
    assert not is_service_link(name, value)


def test_a_service_called_gainsay_service_is_one_too() -> None:
    assert read_settings({"GAINSAY_SERVICE_PORT": "tcp://10.96.14.7:8321"}) == read_settings({})


@pytest.mark.parametrize("name", ["GAINSAY_LEASE_S", "GAINSAY_POLICY", "GAINSAY_LOG_LEVEL"])
def test_a_known_name_is_a_setting_whatever_its_value_looks_like(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(settings, "is_service_link", lambda _name, _value: True)

    with pytest.raises(SettingsError) as error:
        read_settings({name: "tcp://10.96.14.7:8321"})

    assert "tcp://" in error.value.detail or "tcp:/" in error.value.detail
