"""Verifies attestations of captchas, with PyJWT (2.6 or later) and cryptography."""

import json
import logging
import sys
import time
import urllib.request

import jwt

MAX_LENGTH = 2_048  # characters
CLOCK_TOLERANCE = 5  # s
MAX_AGE = 300  # s
CLAIMS = ["iss", "aud", "act", "asr", "cid", "jti", "iat", "exp"]
log = logging.getLogger(__name__)


class Keys:
    """The keys of a JWKS address. They are used for 10 minutes, and an unknown one is looked for every 30 s at most."""

    def __init__(self, url):
        self.url, self.keys, self.fetched = url, {}, float("-inf")

    def find(self, kid):
        age = time.monotonic() - self.fetched
        if age > 600 or (kid not in self.keys and age > 30):
            with urllib.request.urlopen(self.url, timeout=3) as response:
                fetched = jwt.PyJWKSet.from_dict(json.load(response)).keys
            self.keys = {key.key_id: key.key for key in fetched}
            self.fetched = time.monotonic()
        return self.keys.get(kid)


def verify(token, action, person, keys, issuer, audience, subject_required=True):
    """
    Gives the claims of a proof, or why the token is none: "INVALID" or "EXPIRED". The log says more: never tell it to a client.
    Raises OSError, ValueError or PyJWKSetError if the keys cannot be fetched: never take that for a proof. Insert `jti` under a
    unique constraint, in the transaction that acts. Without `subject_required` a proof that names nobody is good for everybody.
    """
    if len(token) > MAX_LENGTH:
        return refuse("INVALID", "it is too long")
    try:
        kid = jwt.get_unverified_header(token).get("kid")
    except (jwt.InvalidTokenError, ValueError) as error:
        return refuse("INVALID", error)
    key = keys.find(kid)
    if key is None:
        return refuse("INVALID", f"none of the keys at {keys.url} has its kid")
    required = {"require": CLAIMS + ["sub"] if subject_required else CLAIMS}
    pinned = {"algorithms": ["ES256"], "issuer": issuer, "audience": audience, "leeway": CLOCK_TOLERANCE}
    try:
        verified = jwt.api_jwt.decode_complete(token, key, options=required, **pinned)
    except jwt.ExpiredSignatureError as error:
        return refuse("EXPIRED", error)
    except (jwt.InvalidTokenError, TypeError, ValueError) as error:
        return refuse("INVALID", error)
    claims = verified["payload"]
    is_as_expected = {
        "typ": verified["header"].get("typ") == "captcha-attestation+jwt",
        "aud": claims["aud"] == audience,
        "act": claims["act"] == action,
        "sub": "sub" not in claims or claims["sub"] == person,
        "asr": claims["asr"] in ("verified", "unverified"),
        "jti": isinstance(claims["jti"], str),
        "iat, exp": all(isinstance(claims[name], (int, float)) for name in ("iat", "exp")),
    }
    others = [name for name, is_so in is_as_expected.items() if not is_so]
    if others:
        return refuse("INVALID", f"not as expected: {', '.join(others)}")
    is_too_old = time.time() - claims["iat"] > MAX_AGE + CLOCK_TOLERANCE
    return refuse("EXPIRED", f"older than {MAX_AGE} s") if is_too_old else claims


def refuse(verdict, reason):
    """Logs why, and never the token: the `repr` of an error could have it."""
    why = f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else reason
    log.warning("attestation %s: %r", verdict, why[:200])
    return verdict


if __name__ == "__main__":
    # Reads lines of JSON with `token`, `action` and `person`, and answers each with a line.
    jwks_url, issuer, audience = sys.argv[1:]
    keys = Keys(jwks_url)
    for line in sys.stdin:
        print(json.dumps(verify(**json.loads(line), keys=keys, issuer=issuer, audience=audience)), flush=True)
