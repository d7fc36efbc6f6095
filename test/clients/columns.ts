import { join } from 'node:path';
import { Kind, type OperationDefinitionNode, print } from 'graphql';
import { ROOT } from '../support/process.ts';
import type { Program } from '../support/programs.ts';

/** Every generator of code with its program: how it generates strictly from the graph in `desk/`, and how its code is compiled. */

export interface Column {
  /** As the table of the page for frontends names it. */
  readonly name: string;
  /** The folder of its files beside this one. */
  readonly files: string;
  /** What somebody has to install; undefined if npm brings it. */
  readonly program?: Program;
  /** Its configuration, as a file in JSON. */
  readonly config?: readonly [file: string, json: object];
  /** A module with the operations, where it does not read `operations.graphql`. */
  readonly module?: (operations: readonly OperationDefinitionNode[]) => string;
  /** Generates and compiles, in a folder that has all files. */
  readonly build: string;
  /** Runs the program, which gets addresses. */
  readonly run: string;
}

const scalars = { DateTime: 'string', JSONObject: 'Record<string, unknown>', _Any: 'Record<string, unknown>' };
const bin = join(ROOT, 'node_modules/.bin');
const install = (packages: string) =>
  `npm install --prefix . --legacy-peer-deps --no-save --no-package-lock --ignore-scripts --no-audit --no-fund ${packages}`;

const CODEGEN: Column = {
  name: 'GraphQL Code Generator',
  files: 'typescript',
  config: [
    'codegen.json',
    {
      config: {
        ...{ nonOptionalTypename: true, futureProofEnums: true, enumsAsTypes: true, strictScalars: true, scalars },
        ...{ useTypeImports: true, importExtension: '.ts' },
      },
      generates: {
        'desk/generated/': {
          ...{ schema: 'desk/schema.graphql', documents: 'desk/operations.graphql' },
          ...{ preset: 'client', presetConfig: { fragmentMasking: false } },
        },
      },
    },
  ],
  build: `${bin}/graphql-codegen --silent --config codegen.json
    echo "export { CaptchaDocument as Captcha, JudgeDocument as Judge } from './generated/graphql.ts';" > desk/operations.ts
    ${bin}/tsc -p .`,
  run: 'node main.ts',
};

const TADA: Column = {
  name: 'gql.tada',
  files: 'typescript',
  config: [
    'tsconfig.json',
    {
      ...{ extends: '../../../tsconfig.json', include: ['*.ts', '*/*.ts'], exclude: [] },
      compilerOptions: {
        plugins: [
          {
            name: 'gql.tada/ts-plugin',
            ...{ schema: 'desk/schema.graphql', tadaOutputLocation: 'desk/graphql-env.d.ts' },
          },
        ],
      },
    },
  ],
  module: (operations) => `import { initGraphQLTada } from 'gql.tada';
    import type { introspection } from './graphql-env.d.ts';
    type Scalars = ${JSON.stringify(scalars).replaceAll(/:"([^"]+)"/g, ':$1')};
    const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>();
    ${operations.map((one) => `export const ${one.name?.value} = graphql(\`${print(one)}\`);`).join('\n')}`,
  // Its command line does not start with TypeScript 7.
  build: `${install('gql.tada@1.11.3 graphql@16.15.0 typescript@6.0.3')}
    node_modules/.bin/gql.tada generate-output
    node_modules/.bin/gql.tada check
    ${bin}/tsc -p .`,
  run: 'node main.ts',
};

const RELAY: Column = {
  name: 'relay-compiler',
  files: 'relay',
  config: [
    'relay.config.json',
    {
      ...{ src: 'desk', schema: 'desk/schema.graphql', customScalarTypes: scalars, requireCustomScalarTypes: true },
      ...{ language: 'typescript', eagerEsModules: true, useImportTypeSyntax: true },
    },
  ],
  // It asks for names that begin with that of the module, and end with the kind.
  module: (operations) => {
    const renamed = operations.map((one) => {
      const kind = one.operation === 'mutation' ? 'Mutation' : 'Query';
      return { ...one, name: { kind: Kind.NAME, value: `operations${one.name?.value}${kind}` } as const };
    });
    return `import { graphql } from 'relay-runtime';\n${renamed.map((one) => `graphql\`${print(one)}\`;`).join('\n')}`;
  },
  build: `${install('relay-compiler@21.0.1 relay-runtime@21.0.1')}
    node_modules/.bin/relay-compiler relay.config.json --noWatchman
    ${bin}/tsc -p .`,
  run: 'node main.ts',
};

const GO: Column = {
  name: 'genqlient',
  files: 'go',
  program: { variable: 'GO', command: 'go', how: 'install Go from version 1.26 on' },
  build: `(cp genqlient.yaml desk && cd desk && go tool genqlient genqlient.yaml)
    go vet ./...
    go build -o clients .`,
  run: './clients',
};

const RUST: Column = {
  name: 'graphql_client',
  files: 'rust',
  program: { variable: 'CARGO', command: 'cargo', how: 'install Rust from version 1.88 on' },
  build: `cargo build -q --locked --target-dir ${join(ROOT, 'node_modules/.cache/cargo')}`,
  run: join(ROOT, 'node_modules/.cache/cargo/debug/clients'),
};

const PYTHON: Column = {
  name: 'ariadne-codegen',
  files: 'python',
  program: { variable: 'PYTHON3', command: 'python3', how: 'apt-get install -y python3-venv' },
  build: `python3 -m venv venv
    venv/bin/pip install -q -r requirements.txt
    (cp pyproject.toml desk && cd desk && ../venv/bin/ariadne-codegen)
    venv/bin/mypy --strict --explicit-package-bases main.py desk`,
  run: 'venv/bin/python main.py',
};

const MVN: Program = { variable: 'MVN', command: 'mvn', how: 'apt-get install -y maven default-jdk-headless' };

const JAVA: Column = {
  name: 'DGS codegen',
  files: 'java',
  program: MVN,
  build: `mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib
    java -cp 'lib/*' com.netflix.graphql.dgs.codegen.CodeGenCliKt -w -o desk -p desk --type-mapping DateTime=String \
      --type-mapping 'JSONObject=java.util.Map<String,Object>' --type-mapping '_Any=java.util.Map<String,Object>' desk/schema.graphql
    javac -Xlint:all -Werror -cp 'lib/*' -d out Main.java $(find desk -name '*.java')`,
  run: "java -cp 'lib/*:out' Main",
};

const kotlinc = `java -cp 'lib/*' org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -Werror -cp "$(echo lib/*.jar | tr ' ' :)"`;

const KOTLIN: Column = {
  name: 'Apollo Kotlin',
  files: 'kotlin',
  program: MVN,
  build: `mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib
    ${kotlinc} -d out/generate Generate.kt
    java -cp 'lib/*:out/generate' GenerateKt desk
    ${kotlinc} -d out/main Main.kt desk`,
  run: "java -cp 'lib/*:out/main' MainKt",
};

export const COLUMNS = [CODEGEN, TADA, RELAY, GO, RUST, PYTHON, JAVA, KOTLIN];
