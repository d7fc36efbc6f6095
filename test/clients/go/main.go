// Asks each address, and prints what the generated code makes of the answers.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"clients/desk"

	"github.com/Khan/genqlient/graphql"
)

func main() {
	for _, url := range os.Args[1:] {
		client := graphql.NewClient(url, http.DefaultClient)
		fmt.Println(judge(client), captcha(client))
	}
}

func judge(client graphql.Client) string {
	answer, err := desk.Judge(context.Background(), client, "sandbox:android:EMULATOR")
	if err != nil {
		return "error"
	}
	device, ok := (*answer.DeviceFingerprint).(*desk.JudgeDeviceFingerprint)
	if !ok {
		return "other"
	}
	return string(device.Decision.Action)
}

func captcha(client graphql.Client) string {
	input := desk.ValidateCaptchaInput{LotNumber: "sandbox:fail:pass_token expire", CaptchaOutput: "o", PassToken: "p", GenTime: "1"}
	answer, err := desk.Captcha(context.Background(), client, input)
	if err != nil {
		return "error"
	}
	return *(*answer.ValidateCaptcha).GetTypename()
}
