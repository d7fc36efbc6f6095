"""Verifies attestations of captchas, with PyJWT (2.6 or later) and cryptography."""

import json
import sys
import time
import urllib.request

import jwt

MAX_LENGTH = 2_048  # characters
CLOCK_TOLERANCE = 5  # s
MAX_AGE = 300  # s
CLAIMS = ["iss", "aud", "act", "asr", "cid", "jti", "iat", "exp"]


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


def verify(token, action, person, keys, issuer, audience, subject_required=False):
    """
    Gives the claims of a proof, or why the token is none: "INVALID" or "EXPIRED". Raises OSError, ValueError or
    PyJWKSetError if the keys cannot be fetched: never take that for a proof. Insert `jti` under a unique constraint, in the
    transaction that acts.
    """
    if len(token) > MAX_LENGTH:
        return "INVALID"
    try:
        kid = jwt.get_unverified_header(token).get("kid")
    except (jwt.InvalidTokenError, ValueError):
        return "INVALID"
    key = keys.find(kid)
    if key is None:
        return "INVALID"
    required = {"require": CLAIMS + ["sub"] if subject_required else CLAIMS}
    pinned = {"algorithms": ["ES256"], "issuer": issuer, "audience": audience, "leeway": CLOCK_TOLERANCE}
    try:
        verified = jwt.api_jwt.decode_complete(token, key, options=required, **pinned)
    except jwt.ExpiredSignatureError:
        return "EXPIRED"
    except (jwt.InvalidTokenError, TypeError, ValueError):
        return "INVALID"
    claims = verified["payload"]
    is_for_this = (
        verified["header"].get("typ") == "captcha-attestation+jwt"
        and claims["aud"] == audience
        and claims["act"] == action
        and ("sub" not in claims or claims["sub"] == person)
        and claims["asr"] in ("verified", "unverified")
        and isinstance(claims["jti"], str)
        and all(isinstance(claims[name], (int, float)) for name in ("iat", "exp"))
    )
    if not is_for_this:
        return "INVALID"
    return "EXPIRED" if time.time() - claims["iat"] > MAX_AGE + CLOCK_TOLERANCE else claims


if __name__ == "__main__":
    # Reads lines of JSON with `token`, `action` and `person`, and answers each with a line.
    jwks_url, issuer, audience = sys.argv[1:]
    keys = Keys(jwks_url)
    for line in sys.stdin:
        print(json.dumps(verify(**json.loads(line), keys=keys, issuer=issuer, audience=audience)), flush=True)
