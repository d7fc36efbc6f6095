//! Tries the recipe, for its test. Nobody needs to copy this file.

mod verify_attestation;

use std::io::stdin;

use serde_json::{Value, json};
use verify_attestation::{Keys, Refused, Verifier, verify_any};

/// Reads lines of JSON with token, action and person, and answers each with a line.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, url, issuer, audience, others @ ..] = &words[..] else {
        return Err("expected an address, an issuer and an audience".into());
    };
    let verifier = |url: &str, issuer: &str| Verifier { keys: Keys::new(url), issuer: issuer.into(), audience: audience.clone() };
    let mut all = vec![verifier(url, issuer)];
    if let [other_url, other] = others {
        all.push(verifier(other_url, other));
    }
    for line in stdin().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| asked[name].as_str().unwrap_or_default();
        let required = asked["subject_required"].as_bool().unwrap_or(true);
        let (token, action, person) = (text("token"), text("action"), text("person"));
        let verified = match &all[..] {
            [only] => only.verify(token, action, person, required),
            several => verify_any(several, token, action, person, required),
        };
        let answer = match verified {
            Ok(claims) => json!(claims),
            Err(Refused::Invalid) => json!("INVALID"),
            Err(Refused::Expired) => json!("EXPIRED"),
            Err(Refused::TryAgain) => json!("TRY_AGAIN"),
            Err(Refused::NoKeys(why)) => return Err(why.into()),
        };
        println!("{answer}");
    }
    Ok(())
}
