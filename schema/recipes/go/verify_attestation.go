// Recipe 0.6.0: the release that changed it last.

// Verifies attestations of captchas, with github.com/lestrrat-go/jwx. Copy this file into a package of yours.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
)

const (
	maxLength      = 2_048 // characters
	clockTolerance = 5 * time.Second
	memory         = 300 * time.Second    // for which you keep each jti
	maxAge         = memory - time.Minute // clocks can differ by clockTolerance on each side
)

// A token that is no proof. The log says why: never tell it to a client.
var (
	ErrInvalid = errors.New("INVALID")
	ErrExpired = errors.New("EXPIRED")
)

// ErrTryAgain says that the key of a token may be a new one. Let the client try again.
var ErrTryAgain = errors.New("TRY_AGAIN")

// Claims are those of a proof. Insert ID under a unique constraint, in the transaction that acts, and keep it for memory. Without Subject it is good for everybody.
type Claims struct {
	Issuer    string   `json:"iss"`
	Audience  string   `json:"aud"`
	Subject   *string  `json:"sub,omitempty"`
	Action    string   `json:"action"`
	Assurance string   `json:"assurance"`
	CaptchaID string   `json:"captcha_id"`
	ID        string   `json:"jti"`
	IssuedAt  float64  `json:"iat"`
	Expires   float64  `json:"exp"`
	NotBefore *float64 `json:"nbf,omitempty"`
}

// Keys are those of a JWKS address. They are used for 10 minutes, and an unknown one is looked for every 30 s at most, without keys every second.
type Keys struct {
	URL     string
	fetched atomic.Pointer[fetchedKeys]
	mutex   sync.Mutex // Nobody waits for it whose key is known, because forged tokens can keep it.
	tried   time.Time
}

type fetchedKeys struct {
	set jwk.Set
	at  time.Time
}

// current gives an empty set if the keys are too old.
func (keys *Keys) current() jwk.Set {
	if fetched := keys.fetched.Load(); fetched != nil && time.Since(fetched.at) < 10*time.Minute {
		return fetched.set
	}
	return jwk.NewSet()
}

func (keys *Keys) find(kid string) (jwk.Key, error) {
	if key, ok := keys.current().LookupKeyID(kid); ok {
		return key, nil
	}
	keys.mutex.Lock()
	defer keys.mutex.Unlock()
	current := keys.current()
	if key, ok := current.LookupKeyID(kid); ok {
		return key, nil
	}
	pause := 30 * time.Second
	if current.Len() == 0 {
		pause = time.Second
	}
	if time.Since(keys.tried) < pause {
		return nil, ErrTryAgain
	}
	// Not the context of a request: who leaves must not end the look for a key.
	client := &http.Client{Timeout: 3 * time.Second}
	set, err := jwk.Fetch(context.Background(), keys.URL, jwk.WithHTTPClient(client))
	// Not before: those that waited for the mutex must not each wait for a fetch of their own.
	keys.tried = time.Now()
	if err == nil && set.Len() == 0 {
		err = errors.New("the key set is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("the keys cannot be fetched: %w", err)
	}
	keys.fetched.Store(&fetchedKeys{set, time.Now()})
	if key, ok := set.LookupKeyID(kid); ok {
		return key, nil
	}
	return nil, refuse(ErrInvalid, "none of the keys has its kid")
}

// Verifier says which attestations are for this service.
type Verifier struct {
	Keys             *Keys
	Issuer, Audience string
}

// Verify gives the claims of a proof, ErrInvalid, ErrExpired, ErrTryAgain, or another error if the keys cannot be fetched: never act then.
func (v Verifier) Verify(token, action, person string, subjectRequired bool) (*Claims, error) {
	if len(token) > maxLength {
		return nil, refuse(ErrInvalid, "it is too long")
	}
	message, err := jws.ParseString(token)
	if err != nil || len(message.Signatures()) != 1 {
		return nil, refuse(ErrInvalid, "it is no JWS")
	}
	header := message.Signatures()[0].ProtectedHeaders()
	kid, hasKid := header.KeyID()
	if typ, _ := header.Type(); typ != "captcha-attestation+jwt" || !hasKid {
		return nil, refuse(ErrInvalid, "it has another typ, or no kid")
	}
	key, err := v.Keys.find(kid)
	if err != nil {
		return nil, err
	}
	payload, err := jws.Verify([]byte(token), jws.WithKey(jwa.ES256(), key), jws.WithCompact())
	if err != nil {
		return nil, refuse(ErrInvalid, "it is not signed by this key")
	}
	var claims Claims
	// A claim of another type, such as a list of audiences, does not fit into its field.
	if json.Unmarshal(payload, &claims) != nil {
		return nil, refuse(ErrInvalid, "a claim has another type")
	}
	now := float64(time.Now().UnixMilli()) / 1_000
	tolerance := clockTolerance.Seconds()
	isForThis := claims.Issuer == v.Issuer && claims.Audience == v.Audience && claims.Action == action
	isForPerson := claims.Subject != nil && *claims.Subject == person || claims.Subject == nil && !subjectRequired
	isWhole := claims.CaptchaID != "" && claims.ID != "" && claims.IssuedAt > 0 && claims.Expires > 0
	isKnown := slices.Contains([]string{"verified", "unverified"}, claims.Assurance)
	isFuture := claims.IssuedAt > now+tolerance || claims.NotBefore != nil && *claims.NotBefore > now+tolerance
	if !isForThis || !isForPerson || !isWhole || !isKnown || isFuture {
		return nil, refuse(ErrInvalid, "a claim is not as expected")
	}
	if now > claims.Expires+tolerance || now > claims.IssuedAt+maxAge.Seconds()+tolerance {
		return nil, refuse(ErrExpired, "its time is over")
	}
	return &claims, nil
}

// Verifiers are those of several issuers, such as one in each region.
type Verifiers []Verifier

// Verify does the same with the verifier of the issuer that the token names. Not verified yet, the name only chooses the keys: its verifier accepts no other issuer.
func (all Verifiers) Verify(token, action, person string, subjectRequired bool) (*Claims, error) {
	var named struct {
		Issuer string `json:"iss"`
	}
	if message, err := jws.ParseString(token[:min(len(token), maxLength)]); err == nil {
		_ = json.Unmarshal(message.Payload(), &named)
	}
	for _, v := range all {
		if v.Issuer == named.Issuer {
			return v.Verify(token, action, person, subjectRequired)
		}
	}
	return nil, refuse(ErrInvalid, "it names no known issuer")
}

func refuse(verdict error, reason string) error {
	log.Printf("attestation %v: %s", verdict, reason)
	return verdict
}
