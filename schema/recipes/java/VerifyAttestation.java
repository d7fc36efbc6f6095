// Recipe 0.6.0: the release that changed it last.

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Verifies attestations of captchas, with Nimbus JOSE+JWT. Copy everything but {@link #main}. */
public final class VerifyAttestation {
  private static final int MAX_LENGTH = 2_048; // characters
  private static final int CLOCK_TOLERANCE = 5; // s
  private static final int MEMORY = 300; // s, for which you keep each jti
  private static final int MAX_AGE = MEMORY - 60; // s; clocks can differ by CLOCK_TOLERANCE on each side
  private static final List<String> TEXTS = List.of("iss", "aud", "action", "assurance", "captcha_id", "jti");
  private static final System.Logger LOG = System.getLogger("attestation");

  /** A token is no proof. The message is INVALID or EXPIRED. The log says more: never tell it to a client. */
  public static final class Refused extends Exception {
    private Refused(String verdict, String reason) {
      super(verdict);
      LOG.log(System.Logger.Level.WARNING, "attestation " + verdict + ": " + reason);
    }
  }

  /** The key of a token may be a new one, which is looked for within 30 s. Let the client try again. */
  public static final class TryAgain extends Exception {}

  /** The keys of a JWKS address. They are used for 10 minutes, and an unknown one is looked for every 30 s at most, without keys every second. */
  public static final class Keys {
    private final URI url;
    private volatile Fetched fetched = new Fetched(new JWKSet(), Instant.EPOCH);
    private Instant tried = Instant.EPOCH;

    private record Fetched(JWKSet set, Instant at) {}

    public Keys(String url) {
      this.url = URI.create(url);
    }

    JWK find(String kid) throws IOException, ParseException, TryAgain {
      JWK known = known(kid);
      // Nobody waits whose key is known, because forged tokens can keep the others waiting.
      return known != null ? known : look(kid);
    }

    private JWK known(String kid) {
      Fetched last = fetched;
      return secondsSince(last.at()) < 600 ? last.set().getKeyByKeyId(kid) : null;
    }

    private synchronized JWK look(String kid) throws IOException, ParseException, TryAgain {
      JWK known = known(kid);
      if (known != null) return known;
      if (secondsSince(tried) < (secondsSince(fetched.at()) < 600 ? 30 : 1)) throw new TryAgain();
      try {
        JWKSet loaded = JWKSet.load(url.toURL(), 3_000, 3_000, 65_536);
        if (loaded.isEmpty()) throw new IOException("the key set is empty");
        fetched = new Fetched(loaded, Instant.now());
        return loaded.getKeyByKeyId(kid);
      } finally {
        // Not before: those that waited must not each wait for a fetch of their own.
        tried = Instant.now();
      }
    }

    private static long secondsSince(Instant begin) {
      return Duration.between(begin, Instant.now()).toSeconds();
    }
  }

  private final Keys keys;
  private final String issuer;
  private final String audience;

  public VerifyAttestation(Keys keys, String issuer, String audience) {
    this.keys = keys;
    this.issuer = issuer;
    this.audience = audience;
  }

  /**
   * Gives the claims of a proof. Insert {@code jti} under a unique constraint, in the transaction that acts, and keep it for {@code MEMORY}.
   * Without {@code subjectRequired} a proof that names nobody is good for everybody.
   *
   * @throws Refused if the token is no proof
   * @throws TryAgain if its key may be a new one
   * @throws IOException or ParseException if the keys cannot be fetched: never act then
   */
  public Map<String, Object> verify(String token, String action, String person, boolean subjectRequired)
      throws Refused, TryAgain, IOException, ParseException {
    if (token.length() > MAX_LENGTH) throw new Refused("INVALID", "it is too long");
    JWSObject jws;
    try {
      jws = JWSObject.parse(token);
    } catch (ParseException error) {
      throw new Refused("INVALID", "it is no JWS");
    }
    var header = jws.getHeader();
    boolean isPinned = JWSAlgorithm.ES256.equals(header.getAlgorithm())
        && new JOSEObjectType("captcha-attestation+jwt").equals(header.getType());
    if (!isPinned || header.getKeyID() == null) throw new Refused("INVALID", "it has another alg or typ, or no kid");
    JWK key = keys.find(header.getKeyID());
    if (key == null) throw new Refused("INVALID", "none of the keys has its kid");
    try {
      if (!jws.verify(new ECDSAVerifier(key.toECKey()))) throw new Refused("INVALID", "it is not signed by this key");
    } catch (JOSEException error) {
      throw new Refused("INVALID", "it cannot be verified");
    }
    Map<String, Object> claims = jws.getPayload().toJSONObject();
    // A list of audiences is no text.
    if (claims == null || !TEXTS.stream().allMatch(name -> claims.get(name) instanceof String)
        || !(claims.get("iat") instanceof Number iat) || !(claims.get("exp") instanceof Number exp))
      throw new Refused("INVALID", "a claim is missing, or has another type");
    long now = Instant.now().getEpochSecond();
    boolean isForThis = issuer.equals(claims.get("iss")) && audience.equals(claims.get("aud"))
        && action.equals(claims.get("action")) && Set.of("verified", "unverified").contains(claims.get("assurance"));
    boolean isForPerson = claims.containsKey("sub") ? person.equals(claims.get("sub")) : !subjectRequired;
    Object begin = claims.getOrDefault("nbf", iat);
    boolean hasBegun = iat.longValue() <= now + CLOCK_TOLERANCE
        && begin instanceof Number number && number.longValue() <= now + CLOCK_TOLERANCE;
    if (!isForThis || !isForPerson || !hasBegun) throw new Refused("INVALID", "a claim is not as expected");
    if (now > Math.min(exp.longValue(), iat.longValue() + MAX_AGE) + CLOCK_TOLERANCE)
      throw new Refused("EXPIRED", "its time is over");
    return claims;
  }

  /** Does the same with the verifier of the issuer that the token names, such as one in each region. */
  public static Map<String, Object> verifyAny(
      List<VerifyAttestation> verifiers, String token, String action, String person, boolean subjectRequired)
      throws Refused, TryAgain, IOException, ParseException {
    Object named = null;
    try {
      // Not verified yet: it only chooses the keys, and its verifier accepts no other issuer.
      var claims = token.length() > MAX_LENGTH ? null : JWSObject.parse(token).getPayload().toJSONObject();
      named = claims == null ? null : claims.get("iss");
    } catch (ParseException error) {
      // It names none.
    }
    for (var verifier : verifiers)
      if (verifier.issuer.equals(named)) return verifier.verify(token, action, person, subjectRequired);
    throw new Refused("INVALID", "it names no known issuer");
  }

  /** Reads lines of JSON with {@code token}, {@code action} and {@code person}, and answers each with a line. */
  public static void main(String[] args) throws Exception {
    var first = new VerifyAttestation(new Keys(args[0]), args[1], args[2]);
    var all = args.length > 3 ? List.of(first, new VerifyAttestation(new Keys(args[3]), args[4], args[2])) : List.of(first);
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Map<String, Object> asked = JSONObjectUtils.parse(line);
      boolean required = !Boolean.FALSE.equals(asked.get("subject_required"));
      String token = (String) asked.get("token");
      String action = (String) asked.get("action");
      String person = (String) asked.get("person");
      String answer;
      try {
        answer = JSONObjectUtils.toJSONString(all.size() > 1
            ? verifyAny(all, token, action, person, required)
            : first.verify(token, action, person, required));
      } catch (Refused refused) {
        answer = '"' + refused.getMessage() + '"';
      } catch (TryAgain tryAgain) {
        answer = "\"TRY_AGAIN\"";
      }
      System.out.println(answer);
    }
  }
}
