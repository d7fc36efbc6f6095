// Recipe 0.6.0: the release that changed it last. The project's tests do not run this one: try the forgeries yourself.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Net.Http;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

/// <summary>A token is no proof. The message is INVALID or EXPIRED. The log says more: never tell it to a client.</summary>
public sealed class RefusedException : Exception
{
    internal RefusedException(string verdict, string reason) : base(verdict) =>
        Trace.TraceWarning($"attestation {verdict}: {reason}"); // in a service: ILogger
}

/// <summary>The key of a token may be a new one, which is looked for within 30 s. Let the client try again.</summary>
public sealed class TryAgainException : Exception { }

/// <summary>
/// The keys of a JWKS address. They are used for 10 minutes, and an unknown one is looked for every 30 s at most, without keys every second.
/// </summary>
public sealed class AttestationKeys
{
    private static readonly HttpClient Http =
        new HttpClient { Timeout = TimeSpan.FromSeconds(3), MaxResponseContentBufferSize = 65_536 };
    private static readonly Stopwatch Clock = Stopwatch.StartNew();

    private readonly string url;
    private readonly SemaphoreSlim turn = new SemaphoreSlim(1); // Nobody waits for it whose key is known, because forged tokens can keep it.
    private volatile Fetched last = new Fetched(new Dictionary<string, SecurityKey>(), TimeSpan.FromHours(-1));
    private TimeSpan? tried;

    private sealed class Fetched
    {
        private readonly IReadOnlyDictionary<string, SecurityKey> keys;
        private readonly TimeSpan at;

        internal Fetched(IReadOnlyDictionary<string, SecurityKey> keys, TimeSpan at)
        {
            this.keys = keys;
            this.at = at;
        }

        internal bool IsCurrent => Clock.Elapsed - at < TimeSpan.FromMinutes(10);

        internal SecurityKey Find(string kid) => IsCurrent && keys.TryGetValue(kid, out var key) ? key : null;
    }

    public AttestationKeys(string url) => this.url = url;

    /// <summary>Gives null for a key that is not published. Other errors than TryAgainException say that the keys cannot be fetched.</summary>
    internal async Task<SecurityKey> FindAsync(string kid)
    {
        if (last.Find(kid) is SecurityKey known) return known;
        await turn.WaitAsync();
        try
        {
            if (last.Find(kid) is SecurityKey published) return published;
            if (Clock.Elapsed - tried < TimeSpan.FromSeconds(last.IsCurrent ? 30 : 1)) throw new TryAgainException();
            try
            {
                last = new Fetched(await FetchAsync(), Clock.Elapsed);
            }
            finally
            {
                // Not before: those that waited must not each wait for a fetch of their own.
                tried = Clock.Elapsed;
            }
            return last.Find(kid);
        }
        finally
        {
            turn.Release();
        }
    }

    private async Task<IReadOnlyDictionary<string, SecurityKey>> FetchAsync()
    {
        var keys = new Dictionary<string, SecurityKey>();
        foreach (var key in new JsonWebKeySet(await Http.GetStringAsync(url)).Keys)
            if (key.Kid != null) keys[key.Kid] = key;
        return keys.Count > 0 ? keys : throw new HttpRequestException("the key set is empty");
    }
}

/// <summary>Those of a proof. Without Subject it is good for everybody.</summary>
public sealed class Attestation
{
    internal Attestation(string id, string assurance, string subject)
    {
        Id = id;
        Assurance = assurance;
        Subject = subject;
    }

    /// <summary>Insert it under a unique constraint, in the transaction that acts, and keep it for 300 s.</summary>
    public string Id { get; }

    /// <summary>Either "verified" or "unverified".</summary>
    public string Assurance { get; }

    public string Subject { get; }
}

/// <summary>Verifies attestations of captchas, with Microsoft.IdentityModel.JsonWebTokens 8.</summary>
public sealed class AttestationVerifier
{
    private const int MaxLength = 2_048; // characters
    private const int MaxAge = 300 - 60; // s; clocks can differ by ClockTolerance on each side
    private const int ClockTolerance = 5; // s
    private static readonly string[] Texts = { "iss", "aud", "action", "assurance", "captcha_id", "jti" };

    private readonly IReadOnlyDictionary<string, AttestationKeys> keysByIssuer;
    private readonly string audience;

    /// <param name="keysByIssuer">the keys of each issuer, of one or of several, such as one in each region</param>
    /// <param name="audience">this service</param>
    public AttestationVerifier(IReadOnlyDictionary<string, AttestationKeys> keysByIssuer, string audience)
    {
        this.keysByIssuer = keysByIssuer;
        this.audience = audience;
    }

    /// <summary>
    /// Gives a proof, or throws RefusedException, TryAgainException, or another error if the keys cannot be fetched: never act then. Without
    /// subjectRequired a proof that names nobody is good for everybody.
    /// </summary>
    public async Task<Attestation> VerifyAsync(string token, string action, string person, bool subjectRequired = true)
    {
        if (token.Length > MaxLength) throw new RefusedException("INVALID", "it is too long");
        var jwt = Read(token);
        // The library knows no extension of `crit` (RFC 7515, 4.1.11), and does not look whether there is one.
        if (string.IsNullOrEmpty(jwt.Kid) || jwt.TryGetHeaderValue<object>("crit", out _))
            throw new RefusedException("INVALID", "it has no kid, or an extension");
        var key = await KeysOf(jwt.Issuer).FindAsync(jwt.Kid) ?? throw new RefusedException("INVALID", "none of the keys has its kid");
        // Nothing of this is up to the token (RFC 8725).
        var result = await new JsonWebTokenHandler().ValidateTokenAsync(token, new TokenValidationParameters
        {
            ValidAlgorithms = new[] { SecurityAlgorithms.EcdsaSha256 },
            ValidTypes = new[] { "captcha-attestation+jwt" },
            ValidIssuer = jwt.Issuer,
            ValidAudience = audience,
            IssuerSigningKey = key,
            ClockSkew = TimeSpan.FromSeconds(ClockTolerance),
        });
        if (result.Exception is SecurityTokenExpiredException) throw new RefusedException("EXPIRED", "its time is over");
        if (!result.IsValid) throw new RefusedException("INVALID", result.Exception.GetType().Name);
        // From here on it is signed.
        using (var claims = JsonDocument.Parse(Base64UrlEncoder.DecodeBytes(jwt.EncodedPayload)))
            return ProofOf(claims.RootElement, action, person, subjectRequired);
    }

    /// <summary>Not verified yet: the issuer only chooses the keys, and is the only one accepted with them.</summary>
    private AttestationKeys KeysOf(string issuer) =>
        keysByIssuer.TryGetValue(issuer ?? "", out var keys) ? keys : throw new RefusedException("INVALID", "it names no known issuer");

    private static JsonWebToken Read(string token)
    {
        try
        {
            return new JsonWebToken(token);
        }
        catch (Exception error) // Whatever a text is that cannot be read, it is no proof.
        {
            throw new RefusedException("INVALID", error.GetType().Name);
        }
    }

    private Attestation ProofOf(JsonElement claims, string action, string person, bool subjectRequired)
    {
        foreach (var name in Texts)
            if (Text(claims, name) == null) throw new RefusedException("INVALID", $"{name} is missing, or no text");
        if (!(Number(claims, "iat") is double begin) || Number(claims, "exp") == null)
            throw new RefusedException("INVALID", "iat or exp is missing, or no number");
        var assurance = Text(claims, "assurance");
        // The library accepts a list of audiences as well, and a slash at the end.
        var isForThis = Text(claims, "aud") == audience && Text(claims, "action") == action
            && (assurance == "verified" || assurance == "unverified");
        var subject = Text(claims, "sub");
        var isForPerson = claims.TryGetProperty("sub", out _) ? subject != null && subject == person : !subjectRequired;
        var age = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() / 1_000.0 - begin;
        if (!isForThis || !isForPerson || age < -ClockTolerance) throw new RefusedException("INVALID", "a claim is not as expected");
        if (age > MaxAge + ClockTolerance) throw new RefusedException("EXPIRED", $"older than {MaxAge} s");
        return new Attestation(Text(claims, "jti"), assurance, subject);
    }

    private static string Text(JsonElement claims, string name) =>
        claims.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    private static double? Number(JsonElement claims, string name) =>
        claims.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.Number ? value.GetDouble() : (double?)null;
}
