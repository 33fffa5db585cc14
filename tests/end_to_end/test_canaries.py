"""Secrets come out of no process: planted in every place, and searched for in everything that the processes let go."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from service.audit.note import COSIGNATURE, SigningKey
from service.cli import main
from service.policy.settings import KNOWN
from tests.end_to_end.processes import Deployment, deployed, until_ready
from tests.end_to_end.vendors.policies import written
from tests.fixtures.behaviours import Cut, Echo, Status
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.secret_files import write_secret
from tests.fixtures.serving import a_case
from tests.fixtures.upstream import Upstream, upstream

LOG = SigningKey.from_seed("localhost", bytes(range(40, 72)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(72, 104)), COSIGNATURE)
CALLER = "canary-credential-of-a-caller-3b"
SCRAPER = "canary-token-of-prometheus-7d"
HOOKS = b64encode(bytes(range(104, 136))).decode()
VENDOR, GATEWAY, TOKEN = "sk-canary-7f3a91c2e5d8", "canary-gateway-51f0b2", "canary-token-of-the-signer-09"
WRONG = "canary-wrong-password-4e"


class Canaries:
    """Each secret by its place, and the variables and files that carry them."""

    def __init__(self, database: Database, folder: Path) -> None:
        urls = (database.service_url, database.sequencer_url, database.migrate_url)
        self.passwords = [str(conninfo_to_dict(url)["password"]) for url in urls]
        keys = [key.encode().rpartition("+")[2] for key in (LOG, WITNESS)]
        self.texts = [*self.passwords, *keys, VENDOR, GATEWAY, TOKEN, CALLER, WRONG, HOOKS]
        self.files = {
            "service": write_secret(folder / "service-url", database.service_url + "\n"),
            "sequencer": write_secret(folder / "sequencer-url", database.sequencer_url),
            "vendor": write_secret(folder / "vendor-key", VENDOR + "\n"),
            "token": write_secret(folder / "token", TOKEN + "\n"),
            "witness": write_secret(folder / "witness.key", WITNESS.encode() + "\n"),
            "hooks": write_secret(folder / "webhook.key", HOOKS + "\n"),
        }

    def found_in(self, text: str) -> list[str]:
        """The beginnings of those that stand in a text."""
        return [secret[:10] for secret in self.texts if secret in text]


def policy(folder: Path, up: Upstream, planted: Canaries) -> Path:
    """Two vendors, each with a key from a file and a secret header from a variable."""
    lines = f'key = "file:{planted.files["vendor"]}"\nsecret_headers = {{ "x-gateway" = "env:CANARY_GATEWAY" }}\n'
    path = folder / "policy.toml"
    path.write_text(written(up.url, up.url, lines), "utf-8")
    return path


async def test_no_canary_comes_out_of_any_process(database: Database, tmp_path: Path) -> None:
    planted = Canaries(database, tmp_path)
    out: dict[str, str] = {}
    async with upstream() as up:
        variables = {
            "GAINSAY_LOG_LEVEL": "DEBUG",
            "GAINSAY_POLICY": str(policy(tmp_path, up, planted)),
            "GAINSAY_SIGNER_TOKEN": TOKEN,
            "GAINSAY_TOKEN": CALLER,
            "GAINSAY_WEBHOOK_KEY": f"file:{planted.files['hooks']}",
            "CANARY_GATEWAY": GATEWAY,
            "CANARY_LOG_KEY": LOG.encode(),
        }
        async with deployed(database, tmp_path, **variables) as deployment:
            address = await everything_runs(deployment, planted, tmp_path)
            planted.texts.append(await hooked(address, out))
            await debates(up, address, out)
            out["doctor"] = await asyncio.to_thread(examined, deployment, database)
            out |= await asyncio.to_thread(shown_of, deployment, tmp_path)
        used = [value for call in up.calls for value in call.headers.values()]
    out |= dict(rows(database))

    assert any(VENDOR in value for value in used)
    assert GATEWAY in used
    assert len(out) > 60  # tables, processes, commands and answers
    assert '"prompt' in "".join(out.values())  # the debates are in it
    assert {place: found for place, text in out.items() if (found := planted.found_in(text))} == {}


async def everything_runs(deployment: Deployment, planted: Canaries, folder: Path) -> str:
    """Start each kind of process, the secrets by variable in one and by file in another; returns the API's address."""
    heads = ("--heads", str(folder / "signer-heads"))
    signer = deployment.start("signer", "--key", "env:CANARY_LOG_KEY", *heads, "--port", "0")
    witness = ("--key", f"file:{planted.files['witness']}", "--heads", str(folder / "witness-heads"))
    deployment.start("witness", *witness, "--log", LOG.public.encode(), "--port", "0")
    at = await signer.says(r"signer on (http://[\d.:]+)")
    deployment.start(
        "sequence",
        "--port",
        "0",
        GAINSAY_SEQUENCER_URL=f"file:{planted.files['sequencer']}",
        GAINSAY_SIGNING_KEY=at,
        GAINSAY_SIGNER_TOKEN=f"file:{planted.files['token']}",
    )
    deployment.start("work", "--port", "0", GAINSAY_DATABASE_URL=f"file:{planted.files['service']}")
    serve = deployment.start("serve", "--no-worker", "--no-sequencer", "--port", "0")
    address = await serve.address()
    await until_ready(address)
    return address


async def hooked(address: str, out: dict[str, str]) -> str:
    """The secret of an endpoint, which is in the one answer that is not searched; what is shown of it afterwards."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        answer = (await http.post("/v1/webhooks", json={"url": "https://8.8.8.8:443/"})).json()
        await http.post(f"{answer['webhook']['href']}/disable")  # so that no packet leaves this machine
        for path in ("/v1/webhooks", answer["webhook"]["href"], f"{answer['webhook']['href']}/deliveries"):
            out[path] = (await http.get(path)).text
    return str(answer["secret"]).removeprefix("whsec_")


async def debates(up: Upstream, address: str, out: dict[str, str]) -> None:
    """One debate that ends well, one whose vendors refuse the key, repeat it and break off; and all that is told."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        for name in ("good", "refused"):
            if name == "refused":
                up.play(Echo(Status(500)), Cut("body", Echo(Status(429))))
                up.otherwise = Echo(Status(401))
            answer = await http.post("/v1/debates?view=full", json=a_case(), headers={"prefer": "wait=30"})
            out[name] = answer.text
            assert "debateId" in answer.json(), answer.text
            place = f"/v1/debates/{answer.json()['debateId']}"
            for part in ("", "?view=full", "/events", "/audit", "/report?format=html", "/report?format=json"):
                out[f"{name}{part}"] = (await http.get(place + part)).text
        for path in ("/v1/debates", "/v1/policy", "/v1/models", "/v1/audit/keys", "/metrics", "/readyz", "/nowhere"):
            out[path] = (await http.get(path)).text


def examined(deployment: Deployment, database: Database) -> str:
    """What the doctor says of a wrong password, beside secrets that are right."""
    wrong = make_conninfo(database.service_url, password=WRONG)
    done = subprocess.run(
        [sys.executable, "-m", "service", "doctor"],
        env={**deployment._environment, "GAINSAY_DATABASE_URL": wrong, "GAINSAY_MIGRATE_URL": database.migrate_url},
        cwd=repository(),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def shown_of(deployment: Deployment, folder: Path) -> dict[str, str]:
    """What the system shows of each process to everyone, and what each has printed and logged."""
    told = {path.name: path.read_text("utf-8", "replace") for path in folder.glob("*.std*.txt")}
    for process in deployment._started:
        for name in ("cmdline", "comm"):
            told[f"{name} of {process.name}"] = Path(f"/proc/{process.pid}/{name}").read_text("utf-8")
    return told


def rows(database: Database) -> Iterator[tuple[str, str]]:
    """Every row of every table, and the statements that PostgreSQL shows."""
    with psycopg.connect(database.admin_url) as admin:
        tables = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace AND relkind IN ('r', 'p')"
        ).fetchall()
        for (name,) in tables:
            rows = admin.execute(sql.SQL("SELECT t::text FROM gainsay.{} t").format(sql.Identifier(name))).fetchall()
            yield f"table {name}", "\n".join(row for (row,) in rows)
        yield "activity", str(admin.execute("SELECT * FROM pg_stat_activity").fetchall())


def test_the_search_finds_what_is_there(database: Database, tmp_path: Path) -> None:
    planted = Canaries(database, tmp_path)

    assert all(planted.found_in(json.dumps({"somewhere": f"x{secret}y"})) for secret in planted.texts)
    assert len(set(planted.texts)) == len(planted.texts) == 11


URL = f"postgresql://a:{WRONG}@"


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (("signer", "--key", LOG.encode(), "--heads", "h"), {}),
        (("witness", "--key", WITNESS.encode(), "--heads", "h", "--log", LOG.public.encode()), {}),
        (("approve", "--key", LOG.encode()), {}),
        (("policy", "init", "--vendor", "openai-compatible", "--base-url", "http://h/v1", "--key", VENDOR), {}),
        (("list", "--server", f"https://a:{WRONG}@gainsay.example"), {}),
        (("list",), {"GAINSAY_SERVER": f"https://a:{WRONG}@gainsay.example"}),
        (("list",), {"GAINSAY_DATABASE_URL": f"{URL}[/d"}),
        (("list",), {"GAINSAY_DATABASE_URL": f"{URL}x@h/d"}),
        (("list",), {"GAINSAY_DATABASE_URL": f"postgresql://a:{WRONG}/x@h/d"}),
        (("list",), {"GAINSAY_DATABASE_URL": f"{URL}db.bank.example/d?sslmode=disable"}),
        (("config", "show"), {"GAINSAY_DATABSE_URL": f"{URL}h/d"}),
        (("config", "show"), {"GAINSAY_SIGNING_KEY": LOG.encode()}),
        (("config", "show"), {"GAINSAY_WEBHOOK_KEY": HOOKS}),
        (("config", "show"), {"GAINSAY_DATABASE_URL": "file:unfit"}),
        (("config", "show"), {"GAINSAY_DATABASE_URL": VENDOR, "GAINSAY_CA_FILE": "unfit"}),
        (("signer", "--key", "file:log.key", "--heads", "h"), {"GAINSAY_SIGNER_TOKEN": "file:unfit"}),
        (("config", "show"), {"GAINSAY_METRICS_TOKEN": f"{WRONG} {WRONG}"}),
        (("signer", "--key", "file:log.key", "--heads", "h"), {"GAINSAY_METRICS_TOKEN": f"{WRONG} {WRONG}"}),
        (("signer", "--key", "file:unfit", "--heads", "h"), {"GAINSAY_SIGNER_TOKEN": TOKEN}),
    ],
)
def test_no_option_takes_a_secret_and_no_refusal_repeats_one(
    words: tuple[str, ...],
    variables: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_secret(tmp_path / "unfit", f"{WRONG}\n{WRONG}\n")
    write_secret(tmp_path / "log.key", LOG.encode())
    for name, value in {"GAINSAY_DATA_DIR": str(tmp_path), **variables}.items():
        monkeypatch.setenv(name, value)

    code = main(words)
    told = "".join(capfd.readouterr())

    assert code == 2, told
    for secret in (LOG.encode().rpartition("+")[2], WITNESS.encode().rpartition("+")[2], VENDOR, WRONG, TOKEN):
        assert secret not in told


def test_a_wrong_password_is_not_repeated(
    database: Database, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAINSAY_DATABASE_URL", make_conninfo(database.service_url, password=WRONG))
    monkeypatch.setenv("GAINSAY_LOG_LEVEL", "DEBUG")

    code = main(["list"])
    told = "".join(capfd.readouterr())

    assert code == 3
    assert "password" in told
    assert WRONG not in told


def test_config_show_says_of_each_secret_that_it_is_set_and_from_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    url, key = write_secret(tmp_path / "url", f"{URL}127.0.0.1/d"), write_secret(tmp_path / "key", VENDOR)
    lines = f'key = "file:{key}"\nsecret_headers = {{ "x-gateway" = "env:CANARY_GATEWAY" }}\n'
    (tmp_path / "policy.toml").write_text(written("http://127.0.0.1:1", "http://127.0.0.1:1", lines), "utf-8")
    given = {
        "GAINSAY_DATABASE_URL": f"file:{url}",
        "GAINSAY_SEQUENCER_URL": f"{URL}127.0.0.1/d",
        "GAINSAY_SIGNER_TOKEN": TOKEN,
        "GAINSAY_TOKEN": CALLER,
        "GAINSAY_METRICS_TOKEN": SCRAPER,
        "GAINSAY_LEASE_S": "7",
        "GAINSAY_POLICY": str(tmp_path / "policy.toml"),
        "CANARY_GATEWAY": GATEWAY,
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    assert main(["config", "show", "--json"]) == 0
    printed = capfd.readouterr().out
    shown = {row["setting"]: (row["value"], row["source"]) for row in json.loads(printed)}

    assert set(KNOWN) < set(shown)
    assert shown["GAINSAY_DATABASE_URL"] == ("set", f"from file {url}")
    assert shown["GAINSAY_SEQUENCER_URL"] == ("set", "the variable")
    assert shown["GAINSAY_MIGRATE_URL"] == ("not set", "default")
    assert shown["GAINSAY_SIGNER_TOKEN"] == ("set", "the variable")
    assert shown["GAINSAY_TOKEN"] == ("set", "the variable")
    assert shown["GAINSAY_METRICS_TOKEN"] == ("set", "the variable")
    assert shown["GAINSAY_LEASE_S"] == ("7.0", "the variable")
    assert shown["providers.open.key"] == ("set", f"from file {key}")
    assert shown["providers.closed.secret_headers.x-gateway"] == ("set", "the variable CANARY_GATEWAY")
    assert not [secret for secret in (WRONG, VENDOR, GATEWAY, TOKEN, CALLER, SCRAPER) if secret in printed]
