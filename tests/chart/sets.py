"""Sets of values for the chart, each of which says something that the others do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Values = Mapping[str, Any]

PIN = "0a" * 32
LOG_KEY = "audit.bank.example+9b4e0c1f+AQ3mCj0YQ0J8h1x3Zq9oJq0m7cQn1gkq3c1r6v4m2y8="
ANYWHERE = [{"ports": [{"port": 443, "protocol": "TCP"}]}]
POLICY = '[policy]\nversion = "chart"\n'
NEEDED: Final[Values] = {
    "logHost": "audit.bank.example",
    "policy": {"toml": POLICY},
    "prompts": {"pin": PIN},
    "identity": {"toml": "[keys]\n"},
}
"""What each installation with an API says, and nothing else."""
OFF = {name: {"enabled": False} for name in ("api", "worker", "sequencer", "signer", "witness")}
WITNESS = {"enabled": True, "logKeys": [LOG_KEY]}

SETS: Final[dict[str, Values]] = {
    "needed": {},
    "argocd": {"migrations": {"mode": "argocd"}},
    "init-container": {"migrations": {"mode": "initContainer"}},
    "external-migrations": {"migrations": {"mode": "external"}, "networkPolicy": {"enabled": False}},
    "digest": {
        "image": {"repository": "registry.bank.example/gainsay", "digest": f"sha256:{PIN}", "tag": "9.9.9"},
        "imagePullSecrets": ["pull"],
        "global": {"imagePullSecrets": [{"name": "pull-too"}]},
    },
    "approved": {
        "approval": {"note": "approval\n\n— model-risk.bank.example AAAA\n"},
        "policy": {"files": {"probe.toml": "x", "probe.txt": "note"}},
        "prompts": {"pin": "image"},
    },
    "existing-maps": {
        "policy": {"toml": "", "existingConfigMap": "own-policy", "key": "bank.toml"},
        "approval": {"existingConfigMap": "own-approval", "key": "note"},
        "identity": {"toml": "", "existingConfigMap": "own-identity", "key": "who.toml"},
        "ca": {"secret": "issuers"},
        "serviceAccount": {"create": False, "name": "own"},
    },
    "scaled": {
        "api": {"hpa": {"enabled": True}},
        "worker": {
            "keda": {"enabled": True, "prometheus": "http://prometheus.monitoring:9090", "authentication": "prom"}
        },
    },
    "watched": {
        "metrics": {"token": {"secret": "metrics", "key": "token"}, "tenants": ["acme", "globex"]},
        "monitoring": {
            "serviceMonitor": {"enabled": True, "labels": {"release": "prom"}},
            "prometheusRule": {
                "enabled": True,
                "runbookBase": "https://docs.bank.example/",
                "dashboardBase": "https://grafana.bank.example",
            },
            "dashboards": {"enabled": True},
        },
        "otlp": {"endpoint": "http://collector:4318", "logs": True, "headers": {"secret": "otlp", "key": "headers"}},
        "networkPolicy": {"egress": {"otlp": [{"ports": [{"port": 4318}]}]}},
    },
    "ingress": {
        "ingress": {"enabled": True, "className": "nginx", "hosts": ["gainsay.bank.example"]},
        "settings": {"drainS": 60},
    },
    "gateway": {
        "httpRoute": {"enabled": True, "parentRefs": [{"name": "edge"}], "hostnames": ["gainsay.bank.example"]},
        "api": {"service": {"port": 8080}},
    },
    "every-way-out": {
        "webhooks": {"enabled": True},
        "vendors": {"keys": [{"name": "openai", "secret": "vendors", "key": "openai"}]},
        "secretFiles": [{"path": "proxy", "secret": "proxy", "key": "header", "processes": ["worker", "signer"]}],
        "identity": {"toml": '[[oidc]]\nname = "bank"\n'},
        "policy": {
            "toml": f'{POLICY}[audit.timestamps]\nurl = "https://tsa.example"\n[[audit.witnesses]]\nurl = "x"\n'
        },
        "networkPolicy": {
            "egress": dict.fromkeys(("identity", "webhooks", "timeStamps", "witnesses"), ANYWHERE),
        },
    },
    "sets": {
        "evaluationSets": {"existingClaim": "golden-sets", "folders": ["lease-questions", "acme=leases/critic"]},
    },
    "sets-for-callers": {
        "evaluationSets": {"existingClaim": "sets", "folders": ["lease"], "processes": ["worker", "api"]},
    },
    "signer-elsewhere": {
        "signer": {"enabled": False},
        "signing": {"signerUrl": "https://signer.bank.example"},
        "networkPolicy": {"egress": {"signer": ANYWHERE}},
        "witness": WITNESS,
    },
    "witness-alone": {
        **OFF,
        "logHost": "",
        "policy": {"toml": ""},
        "prompts": {"pin": ""},
        "identity": {"toml": ""},
        "witness": WITNESS,
    },
    "workers-alone": {
        **OFF,
        "identity": {"toml": ""},
        "worker": {"enabled": True},
        "migrations": {"mode": "initContainer"},
    },
    "ipv6": {"listen": "::"},
    "openshift": {"security": {"assignIds": False}, "signer": {"heads": {"existingClaim": "heads"}}},
    "placed": {
        "worker": {
            "replicas": None,
            "nodeSelector": {"pool": "gainsay"},
            "tolerations": [{"key": "gainsay", "operator": "Exists"}],
            "affinity": {"podAntiAffinity": {}},
            "priorityClassName": "system-cluster-critical",
            "podLabels": {"team": "risk"},
            "podAnnotations": {"note": "kept"},
            "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
        },
        "settings": {"graceS": 95.5, "drainS": 30, "waitS": 300},
        "commonLabels": {"cost": "risk"},
        "commonAnnotations": {"owner": "risk"},
        "fullnameOverride": "challenge",
    },
    "probed": {
        "prober": {"enabled": True, "keys": [LOG_KEY], "witnesses": [LOG_KEY], "schedule": "*/5 * * * *"},
        "extraObjects": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-{{ .Release.Name }}"}},
            'apiVersion: v1\nkind: Secret\nmetadata: {name: {{ include "gainsay.fullname" . }}-extra}\n',
        ],
    },
}
"""Each is laid over what is needed."""

REFUSED: Final[dict[str, tuple[Values, str]]] = {
    "an unknown value": ({"replicaCount": 2}, "Additional property replicaCount is not allowed"),
    "an unknown member": ({"api": {"replica": 2}}, "api: Additional property replica is not allowed"),
    "both scalers on workers": (
        {"worker": {"hpa": {"enabled": True}}},
        "worker: Additional property hpa is not allowed",
    ),
    "both scalers on the API": ({"api": {"keda": {"enabled": True}}}, "api: Additional property keda is not allowed"),
    "a second scaler beside": (
        {
            "worker": {"keda": {"enabled": True, "prometheus": "http://p"}},
            "extraObjects": [
                {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "metadata": {"name": "x"},
                    "spec": {"scaleTargetRef": {"name": '{{ include "gainsay.fullname" . }}-worker'}},
                }
            ],
        },
        "one scaler alone for r-gainsay-worker",
    ),
    "a secret as a value": ({"database": {"service": {"url": "postgresql://x:y@z/w"}}}, "Additional property url"),
    "a pin that is none": ({"prompts": {"pin": "latest"}}, "prompts.pin: Does not match pattern"),
    "no pin": ({"prompts": {"pin": ""}}, "prompts.pin: the pin that"),
    "a digest that is none": ({"image": {"digest": "latest"}}, "image.digest: Does not match pattern"),
    "no policy": ({"policy": {"toml": ""}}, "policy.toml (`--set-file"),
    "no identities": ({"identity": {"toml": ""}}, "identity.toml (`--set-file"),
    "no name of logs": ({"logHost": ""}, "logHost: the first part"),
    "two policies": ({"policy": {"existingConfigMap": "x"}}, "only one of policy.toml"),
    "no signer": ({"signer": {"enabled": False}}, "signing.signerUrl"),
    "two signers": ({"signing": {"signerUrl": "http://signer"}}, "only one of signer.enabled"),
    "a witness of nothing": ({"witness": {"enabled": True}}, "witness.logKeys"),
    "metrics without the token": (
        {"monitoring": {"serviceMonitor": {"enabled": True}}},
        "metrics.token.secret: without the token",
    ),
    "KEDA without Prometheus": ({"worker": {"keda": {"enabled": True}}}, "worker.keda.prometheus"),
    "webhooks without a way": ({"webhooks": {"enabled": True}}, "networkPolicy.egress.webhooks"),
    "spans without a way": ({"otlp": {"endpoint": "http://c:4318"}}, "networkPolicy.egress.otlp"),
    "identity provider without a way": ({"identity": {"toml": "[[oidc]]\n"}}, "networkPolicy.egress.identity"),
    "time stamps without a way": ({"policy": {"toml": "[audit.timestamps]\n"}}, "networkPolicy.egress.timeStamps"),
    "witnesses without a way": ({"policy": {"toml": "[[audit.witnesses]]\n"}}, "networkPolicy.egress.witnesses"),
    "sets without a volume": ({"evaluationSets": {"folders": ["a"]}}, "evaluationSets.existingClaim: the volume that"),
    "a volume without sets": ({"evaluationSets": {"existingClaim": "a"}}, "evaluationSets.folders: the sets of"),
    "sets outside of their volume": (
        {"evaluationSets": {"existingClaim": "a", "folders": ["../secrets"]}},
        "evaluationSets.folders.0: Does not match pattern",
    ),
    "sets for a process that asks none": (
        {"evaluationSets": {"existingClaim": "a", "folders": ["a"], "processes": ["sequencer"]}},
        "evaluationSets.processes.0 must be one of",
    ),
    "a file of a secret outside": (
        {"secretFiles": [{"path": "../x", "secret": "s", "key": "k", "processes": ["api"]}]},
        "secretFiles.0.path: Does not match pattern",
    ),
    "a setting beside its value": (
        {"api": {"extraEnv": [{"name": "GAINSAY_DATABASE_URL", "value": "postgresql://x:y@z/w"}]}},
        "api.extraEnv.0.name: Must not validate the schema (not)",
    ),
    "a mode that is none": ({"migrations": {"mode": "auto"}}, "migrations.mode must be one of"),
    "an Ingress of no name": ({"ingress": {"enabled": True}}, "ingress.hosts"),
    "a probe of no API": ({"prober": {"enabled": True}, "api": {"enabled": False}}, "api.enabled, because the prober"),
}
"""Values that are refused, and what is said of each."""
