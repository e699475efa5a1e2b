"""Of bundles: signatures with what logs, authorities and certificates say of them."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final = (
    Code("bundle-malformed", "signature", REJECTED, "a bundle breaks its format"),
    Code("bundle-unsupported", "signature", UNDECIDED, "a bundle of a kind that is not read here"),
    Code("bundle-signature", "signature", REJECTED, "no signature holds"),
    Code("bundle-signer-kind", "signer", REJECTED, "signed in another way than was asked for"),
    Code("bundle-identity", "signer", REJECTED, "the certificate is somebody else's"),
    Code("bundle-certificate", "signer", REJECTED, "no trusted authority issued the certificate"),
    Code("bundle-timestamp", "time", REJECTED, "a timestamp is not what it has to be"),
    Code("bundle-time-outside", "time", REJECTED, "signed while the certificate was not valid"),
    Code("bundle-key-window", "time", REJECTED, "a trusted key was used when it did not count"),
    Code("bundle-time-ahead", "time", UNDECIDED, "signed after the time of this run"),
    Code("bundle-time-missing", "time", UNDECIDED, "nothing proves when it was signed"),
    Code("bundle-log-entry", "log", REJECTED, "the log entry is about something else"),
    Code("bundle-log-proof", "log", REJECTED, "the entry is not in the log as it is signed"),
    Code("bundle-log-promise", "log", REJECTED, "the log's promise is not signed by the log"),
    Code("bundle-log-unknown", "log", UNDECIDED, "a log that the trusted root does not know"),
    Code("bundle-log-missing", "log", UNDECIDED, "no proof of a log comes with it"),
    Code("bundle-subject", "subject", REJECTED, "the file is not what was signed"),
)
