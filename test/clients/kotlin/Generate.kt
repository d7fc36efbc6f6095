import com.apollographql.apollo.annotations.ApolloExperimental
import com.apollographql.apollo.compiler.ApolloCompiler
import com.apollographql.apollo.compiler.CodegenSchemaOptions
import com.apollographql.apollo.compiler.InputFile
import com.apollographql.apollo.compiler.buildCodegenOptions
import com.apollographql.apollo.compiler.buildIrOptions
import com.apollographql.apollo.compiler.codegen.writeTo
import java.io.File

/** Generates a package in each folder, as the plugin for Gradle does with `packageName` and `mapScalarToKotlinString("DateTime")`. */
@OptIn(ApolloExperimental::class)
fun main(folders: Array<String>) = folders.forEach { folder ->
  fun file(name: String) = listOf(InputFile(File(folder, name), "$folder/$name"))
  // A schema for browsers has none, and a scalar that is not there cannot be mapped.
  val scalars = setOf("DateTime").filter { "scalar $it" in File(folder, "schema.graphql").readText() }
  ApolloCompiler.buildSchemaAndOperationsSources(
    schemaFiles = file("schema.graphql"),
    executableFiles = file("operations.graphql"),
    codegenSchemaOptions = CodegenSchemaOptions(
      scalarTypeMapping = scalars.associateWith { "kotlin.String" },
      scalarAdapterMapping = scalars.associateWith { "com.apollographql.apollo.api.StringAdapter" },
      generateDataBuilders = false,
    ),
    irOptions = buildIrOptions(failOnWarnings = true),
    codegenOptions = buildCodegenOptions(packageName = folder),
    layoutFactory = null,
    operationIdsGenerator = null,
    irOperationsTransform = null,
    javaOutputTransform = null,
    kotlinOutputTransform = null,
    documentTransform = null,
    schemaDocumentTransform = null,
    logger = null,
    operationManifestFile = null,
  ).writeTo(File(folder, "generated"), true, null)
}
