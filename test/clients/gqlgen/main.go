// Prints the schema of the generated subgraph, as a router asks for it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"frameworks/graph"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/transport"
)

func main() {
	server := handler.New(graph.NewExecutableSchema(graph.Config{Resolvers: &graph.Resolver{}}))
	server.AddTransport(transport.POST{})
	server.Use(extension.Introspection{})
	request := httptest.NewRequest("POST", "/", strings.NewReader(`{"query":"{ _service { sdl } }"}`))
	request.Header.Set("content-type", "application/json")
	response := httptest.NewRecorder()
	server.ServeHTTP(response, request)
	var answer struct {
		Data struct {
			Service struct{ SDL string } `json:"_service"`
		}
		Errors json.RawMessage
	}
	if err := json.Unmarshal(response.Body.Bytes(), &answer); err != nil || answer.Errors != nil {
		log.Fatal(response.Body.String())
	}
	fmt.Println(answer.Data.Service.SDL)
}
