"""Decides whether a line is about a client's request to this program, or about a connection of the program itself."""

import re2

_ADDRESS = (
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{0,4}:(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}|[0-9a-f:]*::[0-9a-f.:]+"
    r"|localhost)"
)
_MARK = (
    r"(?:\b(?:from|for|by|of|via|r?ip|r?host|relay|client(?:[_ -]?ip)?|remote[_ -]?(?:addr\w*|host|ip)"
    r"|(?:ip)?addr(?:ess)?|peer|source|src|attacker)\b[^\w\[(]*[\[(]?(?:[\w.?-]+[ @]?[\[(])?(?:IP[: ]*)?"
    r"|(?:^|[\w)\]=:,-]) ?\[|[\w):-] ?\((?:[\w.?-]*[@ \[])?|IPV[46]/\w+/|server: |^|^\S+ \S+ )"
)
_CLIENT = re2.compile(
    rf"(?i){_MARK}(?:\[AF_INET6?\])?{_ADDRESS}"
    rf"|(?:^|[ -]){_ADDRESS}(?:[:#][0-9]+)?(?:$|[: ](?:[^ ]+ ){{0,2}}(?:failed|tried|attempted) to |[#:][0-9]+ [\[(])"
    rf"|\([^() ,]+,{_ADDRESS}[^)]*\)|\b(?:rhost|rip|relay)=\S"
    r"|\bfrom (?:host )?[\w-]+(?:\.[\w-]+)+(?:$| (?:port|via|ssh)\b)"
)
_OWN = re2.compile(
    r"(?i)\bconnect(?:ing|ion)? to |\b(?:could not|cannot|can't|unable to|failed to) (?:re-?)?connect\b"
    r"|\bdial (?:tcp|udp)\b|\bupstream: |\w://[^ /@]*@|\b(?:amqp|mqtt|ldap|redis|smtp|imap|mongodb|postgres\w*|mysql)s?://"
    r"|\b(?:log|sign)(?:ging|ged)?[ -]?in(?:to| to)\b|\bauthenticat\w+ (?:to|with|at|against) |\bconnection to server\b"
    r"|\b\w+Exceptions?\b|\bby (?:the )?(?:remote )?server\b"
)


def names_client(text: str) -> bool:
    """Whether the line names a client by its address, and no connection of the program itself."""
    return _CLIENT.search(text) is not None and _OWN.search(text) is None
