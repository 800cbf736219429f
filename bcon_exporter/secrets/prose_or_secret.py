"""Tells a message from a value: behind a secret's name may stand a message ("DB_PASSWORD: unbound variable").

A message is a plain word that nobody has for a password, or a phrase of at least two words or marks ("permission
denied", "dial tcp"). All else is taken for a secret.
"""

import re2

from bcon_exporter.secrets.secret_names import words

PROSE_ENDS = ".,;:!?)]}>"

_PLAIN = words(
    "str optional bytes varchar a all an any the no not is was are be been has have had must may can cannot could should would will invalid unexpected "
    "expired expires missing required requires incorrect wrong bad failed failure failing error errors denied "
    "rejected refused accepted ok okay success successful succeeded true false yes null none nil undefined empty unset "
    "set changed change updated reset created deleted removed revoked renewed refreshed rotated loaded found "
    "unknown malformed unsupported disabled enabled optional mandatory valid verified unable unauthorized "
    "forbidden only using use used for from to at in of on by with without and or but if when while this that it its "
    "your authentication authorization basic bearer digest ntlm negotiate end eof string number "
    "object array type length too enter please check see received got given expected include omit same-origin "
    "admin-only signing generated generating auto skipping skipped ignoring ignored hidden "
    "redacted masked filtered protected fail passed mismatch mismatched could't connection do did does "
    "unbound already illegal corrupt corrupted truncated unreadable unrecognized duplicate"
)
_LONGEST_PLAIN = 64
_NOUN = "|".join(
    sorted(
        words(
            "permission operation input/output parameter variable environment env value setting option argument "
            "property field signature verification validation certificate format length payload issuer audience claim "
            "checksum padding encoding decoding parsing syntax request response connection handshake authentication "
            "authorization device resource context deadline file directory path stream data database config "
            "configuration password passphrase token secret key credential credentials user account session login "
            "lookup server client service host name type size read write access binary stale text protocol network"
        )
    )
)
_SAID_WORDS = words(
    "failed failure error errors mismatch not is was are must cannot can't could couldn't does doesn't did didn't "
    "has have had exceeded canceled cancelled exists expired invalid missing required denied refused rejected timed "
    "unreachable unavailable unset undefined unbound null empty unknown busy matches permitted found allowed "
    "supported incorrect unsupported malformed contains"
)
_SYSTEM_CALL = (
    "open|stat|lstat|fstat|read|write|mkdir|chdir|chmod|chown|remove|unlink|rename|readlink|symlink|link|truncate|"
    "exec|fork/exec|execve|mount|unmount|umount|bind-mount|access"
)
_SYSTEM_ERRORS = (
    r"\.lib section in a\.out corrupted|Accessing a corrupted shared library|Address already in use|"
    r"Address family not supported by protocol|Advertise error|Argument list too long|"
    r"Attempting to link in too many shared libraries|Bad address|Bad file descriptor|Bad font file format|"
    r"Bad message|Block device required|Broken pipe|Can not access a needed shared library|"
    r"Cannot allocate memory|Cannot assign requested address|Cannot exec a shared library directly|"
    r"Cannot send after transport endpoint shutdown|Channel number out of range|Communication error on send|"
    r"Connection refused|Connection reset by peer|Connection timed out|Destination address required|"
    r"Device not a stream|Device or resource busy|Directory not empty|Disk quota exceeded|Exchange full|"
    r"Exec format error|File descriptor in bad state|File exists|File name too long|File too large|"
    r"Function not implemented|Host is down|Identifier removed|Illegal seek|"
    r"Inappropriate file type or format|Inappropriate ioctl for device|"
    r"Input/output error|Interrupted system call|Interrupted system call should be restarted|Invalid argument|"
    r"Invalid cross-device link|Invalid exchange|Invalid or incomplete multibyte or wide character|"
    r"Invalid request code|Invalid request descriptor|Invalid slot|Is a directory|Is a named type file|"
    r"Key has been revoked|Key has expired|Key was rejected by service|Level 2 halted|"
    r"Level 2 not synchronized|Level 3 halted|Level 3 reset|Link has been severed|Link number out of range|"
    r"Machine is not on the network|Memory page has hardware error|Message too long|Multihop attempted|Name not unique on network|"
    r"Network dropped connection on reset|Network is down|Network is unreachable|No CSI structure available|"
    r"No XENIX semaphores available|No anode|No buffer space available|No child processes|No data available|"
    r"No locks available|No medium found|No message of desired type|No route to host|No space left on device|"
    r"No such device|No such device or address|No such file or directory|No such process|"
    r"Not a XENIX named type file|Not a directory|Numerical argument out of domain|"
    r"Numerical result out of range|Object is remote|Operation already in progress|Operation canceled|"
    r"Operation not permitted|Operation not possible due to RF-kill|Operation not supported|"
    r"Operation now in progress|Out of streams resources|Owner died|Package not installed|Permission denied|"
    r"Protocol driver not attached|Protocol error|Protocol family not supported|Protocol not available|"
    r"Protocol not supported|Protocol wrong type for socket|RFS specific error|Read-only file system|"
    r"Remote I/O error|Remote address changed|Required key not available|Resource deadlock avoided|"
    r"Resource temporarily unavailable|Socket operation on non-socket|Socket type not supported|"
    r"Software caused connection abort|Srmount error|Stale file handle|State not recoverable|"
    r"Streams pipe error|Structure needs cleaning|Text file busy|Timer expired|"
    r"Too many levels of symbolic links|Too many links|Too many open files|Too many open files in system|"
    r"Too many references: cannot splice|Too many users|Transport endpoint is already connected|"
    r"Transport endpoint is not connected|Value too large for defined data type|Wrong medium type"
)
"""What Linux calls its errors (`errno`), those of more than one word."""
_SAID = "|".join(sorted(_SAID_WORDS))
_END = r"(?:[^\w-]|$)"
_MESSAGE = re2.compile(
    rf"(?i)(?:{_SYSTEM_ERRORS}){_END}"
    rf"|(?:{_NOUN})(?:[ \t]+(?:{_NOUN}|or|of|and|the|for)){{0,3}}[ \t]+(?:{_SAID}){_END}"
    rf"|(?:secret|token|key|user|file|volume)[ \t]+\"[^\"\n]{{1,128}}\"[ \t]+(?:{_SAID}){_END}"
    rf"|(?:{_SYSTEM_CALL}):?[ \t]+[\"']?/"
    r"|(?:get|head|post|put|patch|delete|options)[ \t]+\"?[a-z]+://"
    r"|(?:yaml|json|toml|xml|x509|tls|strconv|asn1|proto|rpc error):[ \t]"
    r"|(?:dial|read|write)[ \t]+(?:tcp|udp|unix)\b|lookup[ \t]+\S+:[ \t]"
    r"|(?:base64|hex|utf-8)[ \t]+(?:data|string|input)\b"
)
_MESSAGE_CHARS = 256
"""Characters of a line that are looked at."""
_OF_SENTENCES = words("must should cannot can't required invalid is are was least too field characters be not has")
_LEAST_WORDS = 3


def is_message(line: str, start: int, word: str) -> bool:
    """Return whether what stands at `start` of a line, behind a name, is a message rather than a value.

    Args:
        line: The whole line.
        start: Where the first word begins.
        word: That word, up to a blank or a quote.
    """
    return is_plain(word.strip("'\"`(")) or _MESSAGE.match(line[start : start + _MESSAGE_CHARS]) is not None


def is_plain(word: str) -> bool:
    """Return whether a word is never a secret."""
    return len(word) <= _LONGEST_PLAIN and word.lower().strip(PROSE_ENDS + "'\"`(") in _PLAIN


def is_sentence(text: str) -> bool:
    """Return whether a quoted value is a sentence about a secret: "The password must be at least 8 characters."."""
    if len(text) > _MESSAGE_CHARS or " " not in text:
        return False
    sentence = text.lower().strip(PROSE_ENDS).split()
    return len(sentence) >= _LEAST_WORDS and all(map(_is_word, sentence)) and not _OF_SENTENCES.isdisjoint(sentence)


def _is_word(text: str) -> bool:
    return text.strip(PROSE_ENDS + "'\"`(").replace("'", "").replace("-", "").isalpha() or text.isdigit()
