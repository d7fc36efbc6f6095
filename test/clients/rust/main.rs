//! Asks each address, and prints what the generated code makes of the answers.

use graphql_client::{GraphQLQuery, Response};
use serde::{Deserialize, Serialize};

#[allow(dead_code, non_camel_case_types)]
mod desk {
    type DateTime = String;
    type JSONObject = serde_json::Value;
    type _Any = serde_json::Value;

    macro_rules! generate {
        ($($operation:ident)+) => {$(
            #[derive(graphql_client::GraphQLQuery)]
            #[graphql(
                schema_path = "desk/schema.graphql",
                query_path = "desk/operations.graphql",
                response_derives = "Debug",
                fragments_other_variant = "true",
                skip_serializing_none
            )]
            pub struct $operation;
        )+};
    }
    generate! { Captcha Judge }
}

fn ask<Q: GraphQLQuery>(url: &str, variables: Q::Variables) -> Option<Q::ResponseData>
where
    Q::Variables: Serialize,
    Q::ResponseData: for<'a> Deserialize<'a>,
{
    let mut answer = ureq::post(url).send_json(Q::build_query(variables)).expect("an answer");
    answer.body_mut().read_json::<Response<Q::ResponseData>>().ok()?.data
}

fn judge(url: &str) -> String {
    use desk::judge::*;
    let variables = Variables { token: "sandbox:android:EMULATOR".into() };
    match ask::<desk::Judge>(url, variables).map(|data| data.device_fingerprint) {
        None => "error".into(),
        Some(Some(JudgeDeviceFingerprint::DeviceFingerprint(device))) => match device.decision.expect("a decision").action {
            DeviceRiskAction::Other(text) => text,
            known => format!("{known:?}"),
        },
        Some(_) => "other".into(),
    }
}

fn captcha(url: &str) -> String {
    use desk::captcha::*;
    let text = |value: &str| value.to_string();
    let input = ValidateCaptchaInput {
        lot_number: text("sandbox:fail:pass_token expire"),
        captcha_output: text("o"),
        pass_token: text("p"),
        gen_time: text("1"),
        captcha_id: None,
        audience: None,
        action: None,
    };
    match ask::<desk::Captcha>(url, Variables { input }).map(|data| data.validate_captcha) {
        None => "error".into(),
        Some(Some(captcha)) => match captcha.on {
            CaptchaValidateCaptchaOn::CaptchaFailed(_) => "CaptchaFailed".into(),
            _ => "other".into(),
        },
        Some(None) => "null".into(),
    }
}

fn main() {
    for url in std::env::args().skip(1) {
        println!("{} {}", judge(&url), captcha(&url));
    }
}
