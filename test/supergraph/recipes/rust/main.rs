//! Tries the recipe, for its test. Nobody needs to copy this file.

mod verify_attestation;

use std::io::stdin;

use serde_json::{Value, json};
use verify_attestation::{Keys, Refused, Verifier};

/// Reads lines of JSON with token, action and person, and answers each with a line.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, url, issuer, audience] = &words[..] else { return Err("expected an address, an issuer and an audience".into()) };
    let verifier = Verifier { keys: Keys::new(url), issuer: issuer.clone(), audience: audience.clone() };
    for line in stdin().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| asked[name].as_str().unwrap_or_default();
        let required = asked["subject_required"].as_bool().unwrap_or(true);
        let answer = match verifier.verify(text("token"), text("action"), text("person"), required) {
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
