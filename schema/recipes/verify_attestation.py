# Recipe 0.6.0: the release that changed it last.
"""Verifies attestations of captchas, with PyJWT (2.6 or later) and cryptography."""

import json
import logging
import sys
import threading
import time
import urllib.request

import jwt

MAX_LENGTH = 2_048  # characters
CLOCK_TOLERANCE = 5  # s
MEMORY = 300  # s, for which you keep each `jti`
MAX_AGE = MEMORY - 60  # s; clocks can differ by CLOCK_TOLERANCE on each side
CLAIMS = ["iss", "aud", "action", "assurance", "captcha_id", "jti", "iat", "exp"]
log = logging.getLogger(__name__)


class Refused(Exception):
    """A token is no proof. Its text is "INVALID" or "EXPIRED". The log says more: never tell it to a client."""


class Keys:
    """The keys of a JWKS address. They are used for 10 minutes, and an unknown one is looked for every 30 s at most, without keys every second."""

    def __init__(self, url):
        self.url, self.keys, self.fetched, self.tried = url, {}, float("-inf"), float("-inf")
        self.lock = threading.Lock()

    def known(self, kid):
        return self.keys.get(kid) if time.monotonic() - self.fetched < 600 else None

    def find(self, kid):
        # Nobody waits for the lock whose key is known, because forged tokens can keep it.
        return self.known(kid) or self.look(kid)

    def look(self, kid):
        with self.lock:
            known = self.known(kid)
            if known:
                return known
            if time.monotonic() - self.tried < (30 if time.monotonic() - self.fetched < 600 else 1):
                raise LookupError("a key is not known yet, and is looked for within 30 s: try again")
            try:
                with urllib.request.urlopen(self.url, timeout=3) as response:
                    fetched = jwt.PyJWKSet.from_dict(json.load(response)).keys
            finally:  # Not before: those that waited for the lock must not each wait for a fetch of their own.
                self.tried = time.monotonic()
            self.keys = {key.key_id: key.key for key in fetched}
            self.fetched = time.monotonic()
            return self.keys.get(kid)


def verify(token, action, person, keys, issuer, audience, subject_required=True):
    """
    Gives the claims of a proof. Raises Refused if the token is none, OSError, ValueError or PyJWKSetError if the keys cannot be fetched,
    and LookupError if its key may be a new one: let the client try again after these. Insert `jti` under a unique constraint, in the transaction that acts, and keep it for MEMORY. Without `subject_required` a proof that names nobody
    is good for everybody.
    """
    if len(token) > MAX_LENGTH:
        raise refusal("INVALID", "it is too long")
    try:
        kid = jwt.get_unverified_header(token)["kid"]
    except Exception as error:  # Whatever a text is that cannot be read, it is no proof.
        raise refusal("INVALID", error) from None
    key = keys.find(kid)
    if key is None:
        raise refusal("INVALID", f"none of the keys at {keys.url} has its kid")
    required = {"require": CLAIMS + ["sub"] if subject_required else CLAIMS}
    pinned = {"algorithms": ["ES256"], "issuer": issuer, "audience": audience, "leeway": CLOCK_TOLERANCE}
    try:
        verified = jwt.api_jwt.decode_complete(token, key, options=required, **pinned)
    except jwt.ExpiredSignatureError as error:
        raise refusal("EXPIRED", error) from None
    except (jwt.InvalidTokenError, TypeError, ValueError) as error:
        raise refusal("INVALID", error) from None
    claims = verified["payload"]
    is_as_expected = {
        "typ": verified["header"].get("typ") == "captcha-attestation+jwt",
        "aud": claims["aud"] == audience,
        "action": claims["action"] == action,
        "sub": "sub" not in claims or claims["sub"] == person,
        "assurance": claims["assurance"] in ("verified", "unverified"),
        "jti": isinstance(claims["jti"], str),
        "iat, exp": all(isinstance(claims[name], (int, float)) for name in ("iat", "exp")),
    }
    others = [name for name, is_so in is_as_expected.items() if not is_so]
    if others:
        raise refusal("INVALID", f"not as expected: {', '.join(others)}")
    if time.time() - claims["iat"] > MAX_AGE + CLOCK_TOLERANCE:
        raise refusal("EXPIRED", f"older than {MAX_AGE} s")
    return claims


def verify_any(token, action, person, keys_by_issuer, audience, subject_required=True):
    """Does the same for several issuers, such as one in each region, with the Keys of each."""
    try:  # Not verified yet: it only chooses the keys, and `verify` accepts no other issuer with them.
        issuer = jwt.decode(token[:MAX_LENGTH], options={"verify_signature": False})["iss"]
        keys = keys_by_issuer[issuer]
    except Exception as error:
        raise refusal("INVALID", f"no known issuer: {type(error).__name__}") from None
    return verify(token, action, person, keys, issuer, audience, subject_required)


def refusal(verdict, reason):
    """Makes the error, and logs why. Neither has the token: the `repr` of another error, or its traceback, could."""
    why = f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else reason
    log.warning("attestation %s: %r", verdict, why[:200])
    return Refused(verdict)


if __name__ == "__main__":
    # Reads lines of JSON with `token`, `action` and `person`, and answers each with a line.
    jwks_url, issuer, audience, *others = sys.argv[1:]
    all_keys = {issuer: Keys(jwks_url)} | {other: Keys(url) for url, other in zip(others[::2], others[1::2])}
    of = {"keys_by_issuer": all_keys} if others else {"keys": all_keys[issuer], "issuer": issuer}
    for line in sys.stdin:
        try:
            answer = (verify_any if others else verify)(**json.loads(line), **of, audience=audience)
        except Refused as refused:
            answer = str(refused)
        except LookupError:
            answer = "TRY_AGAIN"
        print(json.dumps(answer), flush=True)
