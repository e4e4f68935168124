/** Truffle's debugger on a mined transaction: the variables that it decodes before steps of the trace. */
import Debugger from '@truffle/debugger'

const { trace, evm } = Debugger.selectors

/** Of the block and the transaction: a debugger of variables does not show them. */
const GLOBALS = new Set(['block', 'tx', 'now'])

const bytecode = ({ object, linkReferences }) => ({
  bytes: object.replace(/__.{38}/g, '0'.repeat(40)),
  linkReferences: Object.values(linkReferences).flatMap((libraries) =>
    Object.entries(libraries).map(([name, places]) => ({
      name,
      length: 20,
      offsets: places.map(({ start }) => start),
    })),
  ),
})

/** Sources in Yul that the compiler made, by their ids. */
function generated(list = []) {
  const sources = []
  for (const { id, name, contents, ast, language } of list) {
    sources[id] = { id: String(id), sourcePath: name, source: contents, ast, language }
  }
  return sources
}

/** A build-info as Truffle takes it. */
function compilationOf({ solcVersion, input, output }) {
  const sources = []
  for (const [sourcePath, { id, ast }] of Object.entries(output.sources)) {
    sources[id] = {
      id: String(id),
      sourcePath,
      source: input.sources[sourcePath].content,
      ast,
      language: 'Solidity',
    }
  }
  const contracts = Object.entries(output.contracts).flatMap(([path, inFile]) =>
    Object.entries(inFile).map(
      ([
        contractName,
        {
          abi,
          evm: { bytecode: created, deployedBytecode: deployed },
        },
      ]) => ({
        contractName,
        abi,
        bytecode: bytecode(created),
        deployedBytecode: bytecode(deployed),
        sourceMap: created.sourceMap,
        deployedSourceMap: deployed.sourceMap,
        immutableReferences: deployed.immutableReferences ?? {},
        generatedSources: generated(created.generatedSources),
        deployedGeneratedSources: generated(deployed.generatedSources),
        primarySourceId: String(output.sources[path].id),
      }),
    ),
  )
  return { id: 'build', compiler: { name: 'solc', version: solcVersion }, sources, contracts }
}

/** A provider of web3 on a node in this process. Traces are in the form of geth, in which the frames of creations are. */
function providerOf(node) {
  return {
    send({ id, method, params }, done) {
      const isTrace = method === 'debug_traceTransaction'
      const sent = isTrace ? [params[0], { ...params[1], tracer: 'structLogger' }] : params
      node.request({ method, params: sent }).then(
        (result) => done(null, { jsonrpc: '2.0', id, result }),
        (error) => done(null, { jsonrpc: '2.0', id, error: { code: -32_000, message: error.message } }),
      )
    },
  }
}

/**
 * The variables in Truffle's scope before steps of a transaction, ascending: by step the values by name, and where Truffle
 * stands.
 */
export async function truffleVariables(node, build, hash, steps) {
  const session = await Debugger.forTx(hash, {
    provider: providerOf(node),
    compilations: [compilationOf(build)],
    storageLookup: true,
  })
  const found = new Map()
  for (const step of steps) {
    const ahead = step - session.view(trace.index)
    if (ahead > 0) await session.advance(ahead)
    const variables = Object.entries(await session.variables()).filter(([name]) => !GLOBALS.has(name))
    found.set(step, {
      pc: session.view(evm.current.step.programCounter),
      values: Object.fromEntries(variables.map(([name, value]) => [name, plain(value)])),
    })
  }
  return found
}

/** What Truffle says instead of a value. */
const isError = ({ kind }) => kind === 'error'

/** A key of a mapping as the node's debugger names it. */
const keyText = (key) => {
  const text = plain(key)
  return key.type.typeClass === 'string' ? JSON.parse(text) : text
}

/** A decoded value in the form of the node's debugger; `undefined` for one that Truffle cannot decode. */
function plain(result) {
  if (isError(result)) return undefined
  const { type, value } = result
  switch (type.typeClass) {
    case 'uint':
    case 'int':
      return String(value.asBN)
    case 'bool':
      return String(value.asBoolean)
    case 'bytes':
      return value.asHex.toLowerCase()
    case 'string':
      return value.kind === 'valid' ? JSON.stringify(value.asString) : undefined
    case 'address':
      return value.asAddress.toLowerCase()
    case 'contract':
      return value.address.toLowerCase()
    case 'enum':
      return `${type.typeName}.${value.name}`
    case 'userDefinedValueType':
      return plain(value)
    case 'array':
      return value.map(plain)
    case 'struct':
    case 'magic':
      return Object.fromEntries(
        (Array.isArray(value)
          ? value
          : Object.entries(value).map(([name, one]) => ({ name, value: one }))
        ).map(({ name, value: one }) => [name, plain(one)]),
      )
    case 'mapping':
      return Object.fromEntries(value.map(({ key, value: one }) => [keyText(key), plain(one)]))
    case 'function':
      return type.visibility === 'external'
        ? `${value.contract.address.toLowerCase()}${value.selector.slice(2)}`
        : value.name
    default:
      return undefined
  }
}
