// Recipe 0.6.0: the release that changed it last.

//! Verifies attestations of captchas, with jsonwebtoken. Copy this file into a crate of yours. It blocks while it fetches keys: from
//! async code call it by `spawn_blocking`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jsonwebtoken::dangerous::insecure_decode;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, get_current_timestamp};
use serde::{Deserialize, Serialize};

const MAX_LENGTH: usize = 2_048; // bytes
const CLOCK_TOLERANCE: u64 = 5; // s
const MEMORY: u64 = 300; // s, for which you keep each `jti`
const MAX_AGE: u64 = MEMORY - 60; // s; clocks can differ by CLOCK_TOLERANCE on each side

/// Why there is no proof. The log says more about a token: never tell it to a client.
#[derive(Debug)]
pub enum Refused {
    Invalid,
    Expired,
    /// Its key may be a new one, which is looked for within 30 s. Let the client try again.
    TryAgain,
    /// The keys cannot be fetched: never act then.
    NoKeys(String),
}

/// Those of a proof. Insert `jti` under a unique constraint, in the transaction that acts, and keep it for MEMORY. Without `sub` it is
/// good for everybody.
#[derive(Serialize, Deserialize)]
pub struct Claims {
    pub iss: String,
    pub aud: String, // A list of audiences is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
    pub action: String,
    pub assurance: Assurance,
    pub captcha_id: String,
    pub jti: String,
    pub iat: f64,
    pub exp: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Assurance {
    Verified,
    Unverified,
}

/// The keys of a JWKS address. They are used for 10 minutes, and an unknown one is looked for every 30 s at most, without keys every second.
pub struct Keys {
    url: String,
    agent: ureq::Agent,
    fetched: RwLock<Option<(HashMap<String, DecodingKey>, Instant)>>,
    tried: Mutex<Option<Instant>>, // Nobody waits for it whose key is known, because forged tokens can keep it.
}

impl Keys {
    pub fn new(url: &str) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(3)));
        Keys { url: url.into(), agent: config.build().into(), fetched: RwLock::default(), tried: Mutex::default() }
    }

    fn known(&self, kid: &str) -> Option<DecodingKey> {
        let fetched = self.fetched.read().unwrap_or_else(PoisonError::into_inner);
        let (keys, at) = fetched.as_ref()?;
        if at.elapsed() > Duration::from_secs(600) { None } else { keys.get(kid).cloned() }
    }

    fn find(&self, kid: &str) -> Result<DecodingKey, Refused> {
        if let Some(key) = self.known(kid) {
            return Ok(key);
        }
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = self.known(kid) {
            return Ok(key);
        }
        let fetched = self.fetched.read().unwrap_or_else(PoisonError::into_inner);
        let has_current = fetched.as_ref().is_some_and(|(_, at)| at.elapsed() <= Duration::from_secs(600));
        drop(fetched);
        let pause = Duration::from_secs(if has_current { 30 } else { 1 });
        if tried.is_some_and(|at| at.elapsed() < pause) {
            return Err(Refused::TryAgain);
        }
        let fetched = self.fetch();
        // Not before: those that waited for the mutex must not each wait for a fetch of their own.
        *tried = Some(Instant::now());
        let keys = fetched.map_err(|error| Refused::NoKeys(format!("the keys cannot be fetched: {error}")))?;
        if keys.is_empty() {
            return Err(Refused::NoKeys("the keys cannot be fetched: the key set is empty".into()));
        }
        let key = keys.get(kid).cloned();
        *self.fetched.write().unwrap_or_else(PoisonError::into_inner) = Some((keys, Instant::now()));
        key.ok_or_else(|| refuse(Refused::Invalid, "none of the keys has its kid"))
    }

    fn fetch(&self) -> Result<HashMap<String, DecodingKey>, ureq::Error> {
        let set: JwkSet = self.agent.get(&self.url).call()?.body_mut().with_config().limit(65_536).read_json()?;
        let keys = set.keys.iter().filter_map(|jwk| Some((jwk.common.key_id.clone()?, DecodingKey::from_jwk(jwk).ok()?)));
        Ok(keys.collect())
    }
}

/// Says which attestations are for this service.
pub struct Verifier {
    pub keys: Keys,
    pub issuer: String,
    pub audience: String,
}

impl Verifier {
    /// Gives the claims of a proof. Without `subject_required` one that names nobody is good for everybody.
    pub fn verify(&self, token: &str, action: &str, person: &str, subject_required: bool) -> Result<Claims, Refused> {
        if token.len() > MAX_LENGTH {
            return Err(refuse(Refused::Invalid, "it is too long"));
        }
        let header = decode_header(token).map_err(|_| refuse(Refused::Invalid, "it is no JWT"))?;
        // This library knows no extension of `crit` (RFC 7515, 4.1.11), and does not look whether there is one.
        let (Some("captcha-attestation+jwt"), Some(kid), None) = (header.typ.as_deref(), header.kid, header.crit) else {
            return Err(refuse(Refused::Invalid, "it has another typ, no kid, or an extension"));
        };
        let key = self.keys.find(&kid)?;
        let mut pinned = Validation::new(Algorithm::ES256);
        pinned.set_issuer(&[&self.issuer]);
        pinned.set_audience(&[&self.audience]);
        pinned.validate_nbf = true;
        pinned.leeway = CLOCK_TOLERANCE;
        let claims = match decode::<Claims>(token, &key, &pinned) {
            Ok(decoded) => decoded.claims,
            Err(error) if *error.kind() == ErrorKind::ExpiredSignature => return Err(refuse(Refused::Expired, "its time is over")),
            Err(_) => return Err(refuse(Refused::Invalid, "its signature or a claim is not as expected")),
        };
        let is_for_person = claims.sub.as_ref().map_or(!subject_required, |sub| sub == person);
        let age = get_current_timestamp() as f64 - claims.iat;
        if claims.action != action || !is_for_person || age < -(CLOCK_TOLERANCE as f64) {
            return Err(refuse(Refused::Invalid, "it is for another action or person, or of the future"));
        }
        if age > (MAX_AGE + CLOCK_TOLERANCE) as f64 {
            return Err(refuse(Refused::Expired, "it is too old"));
        }
        Ok(claims)
    }
}

/// Does the same with the verifier of the issuer that the token names, such as one in each region.
pub fn verify_any(verifiers: &[Verifier], token: &str, action: &str, person: &str, subject_required: bool) -> Result<Claims, Refused> {
    #[derive(Deserialize)]
    struct Named {
        iss: String,
    }
    if token.len() > MAX_LENGTH {
        return Err(refuse(Refused::Invalid, "it is too long"));
    }
    // Not verified yet: it only chooses the keys, and its verifier accepts no other issuer.
    let named = insecure_decode::<Named>(token).ok().map(|decoded| decoded.claims.iss);
    match verifiers.iter().find(|verifier| Some(&verifier.issuer) == named.as_ref()) {
        Some(verifier) => verifier.verify(token, action, person, subject_required),
        None => Err(refuse(Refused::Invalid, "it names no known issuer")),
    }
}

fn refuse(verdict: Refused, reason: &str) -> Refused {
    eprintln!("attestation {}: {reason}", format!("{verdict:?}").to_uppercase()); // in a service: `tracing::warn!`
    verdict
}
