// Tries the recipe, for its test. Nobody needs to copy this file.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
)

// Reads lines of JSON with token, action and person, and answers each with a line.
func main() {
	first := Verifier{Keys: &Keys{URL: os.Args[1]}, Issuer: os.Args[2], Audience: os.Args[3]}
	verify := first.Verify
	if len(os.Args) > 4 {
		verify = Verifiers{first, {Keys: &Keys{URL: os.Args[4]}, Issuer: os.Args[5], Audience: os.Args[3]}}.Verify
	}
	log.SetFlags(0)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		asked := struct {
			Token, Action, Person string
			SubjectRequired       bool `json:"subject_required"`
		}{SubjectRequired: true}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		claims, err := verify(asked.Token, asked.Action, asked.Person, asked.SubjectRequired)
		var answer any = claims
		if errors.Is(err, ErrInvalid) || errors.Is(err, ErrExpired) || errors.Is(err, ErrTryAgain) {
			answer = err.Error()
		} else if err != nil {
			log.Fatal(err)
		}
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
}
