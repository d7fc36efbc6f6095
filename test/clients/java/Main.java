import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import desk.types.CaptchaValidation;
import desk.types.DeviceFingerprint;
import desk.types.DeviceFingerprintResult;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Asks each address, and prints what the generated types make of the answers. */
final class Main {
  private static final ObjectMapper JSON = new ObjectMapper()
      .enable(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
      .disable(DeserializationFeature.FAIL_ON_INVALID_SUBTYPE, DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  public static void main(String[] urls) throws Exception {
    for (String url : urls) System.out.println(judge(url) + " " + captcha(url));
  }

  private static String judge(String url) throws Exception {
    var variables = Map.of("token", "sandbox:android:EMULATOR");
    try {
      var result = ask(url, "Judge", variables, "deviceFingerprint", DeviceFingerprintResult.class);
      return result instanceof DeviceFingerprint device ? "" + device.getDecision().getAction() : "" + result;
    } catch (JsonProcessingException error) {
      return "error";
    }
  }

  private static String captcha(String url) throws Exception {
    var input = Map.of("lotNumber", "sandbox:fail:pass_token expire", "captchaOutput", "o", "passToken", "p", "genTime", "1");
    try {
      var outcome = ask(url, "Captcha", Map.of("input", input), "validateCaptcha", CaptchaValidation.class);
      return outcome == null ? "null" : outcome.getClass().getSimpleName();
    } catch (JsonProcessingException error) {
      return "error";
    }
  }

  /** Sends an operation of the pages with variables: what this generator writes itself has the arguments in its document. */
  private static <T> T ask(String url, String name, Map<String, ?> variables, String field, Class<T> type) throws Exception {
    var document = Files.readString(Path.of("desk/operations.graphql"));
    var body = JSON.writeValueAsString(Map.of("query", document, "operationName", name, "variables", variables));
    var request = HttpRequest.newBuilder(URI.create(url)).header("content-type", "application/json");
    var posted = request.POST(HttpRequest.BodyPublishers.ofString(body)).build();
    var answer = JSON.readTree(HttpClient.newHttpClient().send(posted, BodyHandlers.ofString()).body());
    return JSON.treeToValue(answer.get("data").get(field), type);
  }
}
