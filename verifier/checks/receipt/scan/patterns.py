"""What must not be published, as patterns over one piece of text (rules P1 to P3 and P6).

Formats of tokens are as their providers document them (GitHub "token formats", Hugging Face,
AWS "unique identifiers", Slack, GitLab "token overview", RFC 7519 for JWT). Repetitions are bounded
and begin at a boundary, so that no text makes them slow.
"""

import ipaddress
import re
from math import log2
from typing import Final

CREDENTIAL: Final = "credential"
HOST: Final = "host name"
ADDRESS: Final = "private address"
HOME: Final = "home path"
EMAIL: Final = "e-mail address"
PROSE: Final = "prompt or output"
INVISIBLE: Final = "invisible character"
TWICE: Final = "key given twice"
NO_NUMBER: Final = "no number"

TOKENS: Final = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:
      gh[pousr]_[A-Za-z0-9]{30,255} | github_pat_[A-Za-z0-9_]{22,255} | glpat-[A-Za-z0-9_-]{20,64}
    | hf_[A-Za-z0-9]{30,64} | api_org_[A-Za-z0-9]{30,64}
    | sk-[A-Za-z0-9_-]{20,255} | nvapi-[A-Za-z0-9_-]{40,128} | gsk_[A-Za-z0-9]{40,64}
    | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,512}
    | GOCSPX-[A-Za-z0-9_-]{20,64} | xox[abeoprs]-[A-Za-z0-9-]{10,255} | xapp-[A-Za-z0-9-]{20,255}
    | (?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,128} | whsec_[A-Za-z0-9]{24,64}
    | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{50,512} | dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}
    | tskey-[a-z]{2,12}-[A-Za-z0-9-]{10,128} | do[oprt]_v1_[0-9a-f]{64}
    | hv[sbr]\.[A-Za-z0-9_-]{24,255}
    | SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64} | [0-9]{8,10}:AA[A-Za-z0-9_-]{33}
    | eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}
    | AGE-SECRET-KEY-1[0-9A-Z]{58}
    | hooks\.slack\.com/services/[A-Za-z0-9/]{20,128}
    )""",
    re.VERBOSE,
)
KEY_BLOCKS: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"|PuTTY-User-Key-File-[0-9]|(?:minisign|rsign) encrypted secret key"
)
HEADERS: Final = re.compile(
    r"(?i)\b(?:bearer|basic)\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})"
    r"|\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:token\s{1,4})?([A-Za-z0-9._~+/=-]{12,4096})"
)
USERINFO: Final = re.compile(r"://[^/\s:@\"']{0,128}:([^/\s@\"']{1,256})@")
_NAMES: Final = (
    r"(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?"
    r"|secret[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|credentials?)"
)
ASSIGNED: Final = re.compile(
    rf"(?i)(?<![\w.-])(--)?[\w.-]{{0,48}}?{_NAMES}(?![A-Za-z0-9])[\"']?"
    r"(?:\s{0,4}[:=]\s{0,4}|(?(1)\s{1,4}|(?!)))[\"']?([^\s\"',;)}\]]{6,512})"
)
#: Of a key: its value is a secret, unless it stands for one.
PASSWORD: Final = re.compile(r"(?i)[\w.-]{0,64}(?:password|passwd|passphrase)")
#: Of a key: its value is a secret if it looks like one.
SENSITIVE: Final = re.compile(rf"(?i)[\w.-]{{0,64}}{_NAMES}")
_PLACEHOLDER: Final = re.compile(
    r"(?i)[*x.\-_]+|<.*>|\[.*\]?|\{.*\}?|\$.*|%.*%|(?:your|my|some)[_-].*|none|null|true|false"
    r"|redacted|removed|masked|changeme|example|dummy|required|optional|not[_-]?needed|unset"
    r"|os\.environ.*|env[.:].*"
)
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{3,}")
_PLAIN: Final = re.compile(
    r"[0-9.,%:-]+|[a-z]+|[A-Z]?[a-z]+(?:[-_/.][a-z]+)*|\.{0,2}/.*|https?://.*"
)
_LEAST_BITS: Final = 2.5

EMAILS: Final = re.compile(
    r"(?<![\w.+-])([\w.+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![\w-])"
)
_REMOTE: Final = (
    r"(?:https?|wss?|tcp|udp|ssh|sftp|ftp|grpc|zmq|redis|rediss|postgres(?:ql)?|mysql|amqps?|nfs)"
)
URLS: Final = re.compile(
    rf"(?i)(?<![A-Za-z0-9]){_REMOTE}://(?:[^/\s@\"']{{0,256}}@)?(\[[0-9A-Fa-f:.]{{2,45}}\]"
    r"|[^/\s:?#\"'<>()\[\],;\\`]{1,253})"
)
_PRIVATE_ENDS: Final = (
    "local|lan|internal|corp|home|intranet|localdomain|private|home\\.arpa|ts\\.net"
)
_PUBLIC_ENDS: Final = "com|net|org|edu|gov|io|ai|dev|cloud|de|uk|fr|eu|cn|jp"
DOMAINS: Final = re.compile(
    rf"(?i)(?<![\w.@-])((?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,8}}(?:{_PRIVATE_ENDS}|{_PUBLIC_ENDS}))"
    r"(?![\w-]|\.\w)"
)
MACHINES: Final = re.compile(
    r"(?<![\w.-])(?:(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{7,12}|[A-Za-z0-9-]{1,32}-MacBook-(?:Pro|Air)"
    r"|ip-[0-9]{1,3}(?:-[0-9]{1,3}){3})(?![\w-])"
    r"|(?<![\w.+-])[a-z_][a-z0-9_-]{0,31}@(?!sha(?:256|512):)[A-Za-z0-9-]{1,63}:[~/]"
)
#: Of a whole key or value: a machine of the kinds that these studies run on.
MACHINE: Final = re.compile(
    r"(?i)(?:[a-z0-9]{1,16}[-_]){0,3}(?:spark|gx10|workstation|gpubox)[-_]?(?:[0-9]{1,4}|[0-9a-f]{4})"
)
HOST_KEYS: Final = frozenset(
    {"host", "hosts", "hostname", "hostnames", "node", "nodename", "fqdn", "hostid", "computername"}
)
PUBLIC: Final = (
    *("github.com", "githubusercontent.com", "github.io", "ghcr.io", "gitlab.com", "codeberg.org"),
    *("huggingface.co", "hf.co", "modelscope.cn", "pypi.org", "pythonhosted.org", "python.org"),
    *("docker.io", "docker.com", "quay.io", "nvcr.io", "nvidia.com", "pytorch.org", "kernel.org"),
    *("in-toto.io", "slsa.dev", "sigstore.dev", "spdx.dev", "spdx.org", "cyclonedx.org"),
    *("arxiv.org", "w3.org", "ietf.org", "rfc-editor.org", "json-schema.org", "mlcommons.org"),
    *("ubuntu.com", "debian.org", "rust-lang.org", "crates.io", "npmjs.com", "npmjs.org"),
    *("opentelemetry.io", "prometheus.io", "vllm.ai", "falsify.dev", "c2sp.org", "openai.com"),
    *("anthropic.com", "z.ai", "deepseek.com", "example.com", "example.net", "example.org"),
)
_RESERVED: Final = ("test", "example", "invalid", "localhost")
_ANYWHERE: Final = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "::1", "[::]"})  # noqa: S104

IPV4: Final = re.compile(
    r"(?<![\w.])(?<!==)(?:10(?:\.[0-9]{1,3}){3}|192\.168(?:\.[0-9]{1,3}){2}"
    r"|172\.(?:1[6-9]|2[0-9]|3[01])(?:\.[0-9]{1,3}){2}|169\.254(?:\.[0-9]{1,3}){2}"
    r"|100\.(?:6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])(?:\.[0-9]{1,3}){2})(?!\w|\.[0-9])"
)
IPV6: Final = re.compile(
    r"(?i)(?<![\w:])(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f])(?::[0-9a-f]{0,4}){1,7}(?![\w:])"
)
#: Before a number of four parts, or in the key above it: a version and no address.
VERSIONED: Final = re.compile(r"(?i)(?:version|release|driver|cuda|cublas|cu[a-z]{2,8}|nvidia)")
HOMES: Final = re.compile(
    r"(?i)(?:(?<![\w.])(?:/var|/mnt/[a-z]|file:/{1,2})?/{1,3}(?:home|users)/{1,3}|(?<![A-Za-z0-9])[a-z]:[\\/]{1,2}users[\\/]{1,2})"
    r"([^\s/\\\"':,;)]{1,64})|(?<![\w./])/root(?![\w.-])"
)
CONTROLS: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
PROSE_KEYS: Final = frozenset(
    {
        *(
            "prompt",
            "prompts",
            "systemprompt",
            "prompttext",
            "messages",
            "content",
            "contentpreview",
        ),
        *(
            "preview",
            "output",
            "outputs",
            "outputtext",
            "generatedtext",
            "generation",
            "completion",
        ),
        *("completions", "response", "responses", "responsetext", "responsebody", "requestbody"),
        *("answer", "answers", "reasoning", "reasoningcontent", "transcript", "conversation"),
    }
)


def public(host: str) -> bool:
    """Whether a host may be named: a public one of the list, a reserved name, this very machine.

    What stands for a host, such as `$HOST` or `HEAD_NODE_IP`, names none.
    """
    if _VARIABLE.fullmatch(host) or host.startswith(("$", "{", "%", "*")):
        return True
    name = host.lower().rstrip(".")
    if name in _ANYWHERE or name.rpartition(".")[2] in _RESERVED:
        return True
    return any(name == known or name.endswith(f".{known}") for known in PUBLIC)


def stands_in(value: str) -> bool:
    """Whether a value stands for a secret: a placeholder, the name of a variable, or nothing."""
    return bool(not value or _PLACEHOLDER.fullmatch(value) or _VARIABLE.fullmatch(value))


def secretive(value: str) -> bool:
    """Whether a value that is assigned to a secret's name can be one.

    It is none if it names a variable, a file or a placeholder, is a plain word or number, or has
    too little in it (Shannon, bits a character).
    """
    value = value.strip("`.!?")
    if stands_in(value) or _PLAIN.fullmatch(value):
        return False
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * log2(share) for share in shares) >= _LEAST_BITS


def address(text: str) -> bool:
    """Whether a candidate is an address, and no digest or time that looks like one."""
    parts = text.split(".")
    try:
        # Zeros in front are no address to Python, and one to whoever reads it.
        ipaddress.ip_address(".".join(str(int(p)) for p in parts) if len(parts) > 1 else text)
    except ValueError:
        return False
    return True
