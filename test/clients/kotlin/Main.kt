import com.apollographql.apollo.ApolloClient
import desk.CaptchaMutation
import desk.JudgeQuery
import desk.type.ValidateCaptchaInput
import kotlinx.coroutines.runBlocking

/** Asks each address, and prints what the generated code makes of the answers. */
fun main(urls: Array<String>) = runBlocking {
  for (url in urls) ApolloClient.Builder().serverUrl(url).build().use { println("${judge(it)} ${captcha(it)}") }
}

suspend fun judge(client: ApolloClient): String {
  val answer = client.query(JudgeQuery("sandbox:android:EMULATOR")).execute()
  if (answer.exception != null) return "error"
  val device = answer.data?.deviceFingerprint?.onDeviceFingerprint ?: return "other"
  return "${device.decision?.action}"
}

suspend fun captcha(client: ApolloClient): String {
  val input = ValidateCaptchaInput(lotNumber = "sandbox:fail:pass_token expire", captchaOutput = "o", passToken = "p", genTime = "1")
  val answer = client.mutation(CaptchaMutation(input)).execute()
  if (answer.exception != null) return "error"
  return if (answer.data?.validateCaptcha?.onCaptchaFailed == null) "other" else "CaptchaFailed"
}
