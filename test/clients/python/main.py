"""Asks each address, and prints what the generated code makes of the answers."""

import sys

from pydantic import ValidationError

from desk.client import Client, ValidateCaptchaInput
from desk.client.captcha import CaptchaValidateCaptchaCaptchaFailed
from desk.client.judge import JudgeDeviceFingerprintDeviceFingerprint


def judge(client: Client) -> str:
    try:
        device = client.judge("sandbox:android:EMULATOR").device_fingerprint
    except ValidationError:
        return "error"
    if not isinstance(device, JudgeDeviceFingerprintDeviceFingerprint) or not device.decision:
        return "other"
    return device.decision.action.value


def captcha(client: Client) -> str:
    unsolved = ValidateCaptchaInput(
        lotNumber="sandbox:fail:pass_token expire", captchaOutput="o", passToken="p", genTime="1"
    )
    try:
        outcome = client.captcha(unsolved).validate_captcha
    except ValidationError:
        return "error"
    return "CaptchaFailed" if isinstance(outcome, CaptchaValidateCaptchaCaptchaFailed) else "other"


for url in sys.argv[1:]:
    with Client(url) as asked:
        print(judge(asked), captcha(asked))
