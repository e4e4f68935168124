/** The pages of the JSON-RPC methods: an index, and a page for each namespace. */
import { createNode } from '../../dist/index.js'
import { METHODS } from '../../dist/rpc/methods/index.js'
import { cell, code, codeCell, NOTICE, page, table } from './markdown.mjs'

/** Longest string of an answer, characters: a word of a topic or two fit, code does not. */
const LONGEST_TEXT = 140
/** Most items of a list of an answer. */
const LONGEST_LIST = 12
/** Longest shape of a value, characters; longer objects show their member names only. */
const LONGEST_SHAPE = 160

const NAMESPACES = {
  web3: 'Client version and hashing.',
  net: 'Network id and peers.',
  rpc: 'Available methods.',
  eth: 'Chain, state, transactions, logs, filters, subscriptions, signing and mining work.',
  txpool: 'The transaction pool.',
  sco: 'Peer scoring: the behaviour of callers from other machines, and bans.',
  evm: 'Mining on request, clock, snapshots, imported blocks and reorganisations, simulations, ABI registration.',
  debug: 'Traces of opcodes and frames, comparison with Ethereum, inspection of the node.',
  ext: 'Raw headers, receipts and receipt proofs. Each method also exists under its `rsk_` name.',
  mnr: 'Merged mining.',
  btc: 'The Bitcoin chain beside this one, and the peg between the two (`--bitcoin`).',
  fed: 'The simulated federation (`--bitcoin`).',
  trace: 'Flat traces of calls, creations and self-destructs; replays with state changes and opcodes.',
  ots: 'Methods for the explorer Otterscan.',
  erigon: 'Further methods for Otterscan.',
  personal: 'Accounts whose keys the node holds.',
  wallet: 'Bundles of calls of the accounts of the node (EIP-5792).',
  hardhat: 'Methods that Hardhat adds to a node.',
  anvil: 'Methods that Anvil adds to a node.',
  miner: 'Starting and stopping the mining schedule.',
  tenderly: 'Balances and simulations, under the method names of Tenderly.',
  alchemy: 'Simulations, under the method names of Alchemy.',
}

/** The members of an object schema, short of what they hold when `full` is false. */
function objectShape({ properties = {}, required = [], additionalProperties }, full) {
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = required.includes(name) ? name : `${name}?`
    return full ? `${key}: ${shape(schema)}` : key
  })
  const rest = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
  if (rest) members.push(full ? `[key]: ${shape(additionalProperties)}` : '[key]')
  return members.length === 0 ? 'object' : `{ ${members.join(', ')} }`
}

/** A JSON schema in short: `{ from?: ADDRESS, to: HASH | null }`. */
function shape(schema) {
  const { $ref, description = '', type, enum: values, anyOf, oneOf, items, prefixItems } = schema
  if ($ref !== undefined) return $ref.replace(/^.*\//, '')
  const [, word] = /^(QUANTITY|DATA|HASH|ADDRESS)\b/.exec(description) ?? []
  if (word !== undefined) return word
  if ('const' in schema) return JSON.stringify(schema.const)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const choices = anyOf ?? oneOf
  if (choices !== undefined) {
    const isBlock = description.startsWith('Block')
    return isBlock ? 'BLOCK' : [...new Set(choices.map(shape))].join(' | ')
  }
  if (prefixItems !== undefined) return `[${prefixItems.map(shape).join(', ')}]`
  if (type === 'array') {
    const item = shape(items ?? {})
    return /[ |]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
  }
  if (type === 'object') {
    const full = objectShape(schema, true)
    return full.length > LONGEST_SHAPE ? objectShape(schema, false) : full
  }
  if (Array.isArray(type)) return type.join(' | ')
  return type ?? 'any JSON value'
}

/** The description of a schema, where it is more than its shape. */
function remark({ description = '' }) {
  const rest = description.replace(/^(QUANTITY|DATA|HASH|ADDRESS)\b[:,]?\s*/, '')
  return rest === '' ? '' : `: ${cell(rest)}`
}

function parameterLine({ name, required, schema }) {
  const fallback = required ? '' : `, optional, default \`${JSON.stringify(schema.default)}\``
  return `- ${code(name)} (${code(shape(schema))}${fallback})${remark(schema)}`
}

/** JSON over several lines, each member on one, where it is longer than a line. */
function shownJson(value) {
  const short = JSON.stringify(value)
  return short.length <= 100 ? short : JSON.stringify(value, null, 2)
}

/** Shortens long strings (code, blooms) and leaves the rest of an answer unchanged. */
function shortened(value) {
  if (typeof value === 'string')
    return value.length > LONGEST_TEXT ? `${value.slice(0, 66)}… (${value.length} characters)` : value
  if (Array.isArray(value)) {
    const shown = value.slice(0, LONGEST_LIST).map(shortened)
    return value.length > LONGEST_LIST ? [...shown, `… (${value.length} items)`] : shown
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member)]))
}

function exampleLines({ name, examples: [example] }) {
  if (example === undefined) return []
  const params = example.params.map(({ value }) => value)
  const varies =
    example.description === undefined ? '' : ' (it differs from call to call, or between machines)'
  return [
    '',
    `Request${example.summary === undefined ? '' : `, ${cell(example.summary.replace(/^After /, 'after '))}`}:`,
    '',
    '```json',
    shownJson({ jsonrpc: '2.0', id: 1, method: name, params }),
    '```',
    '',
    `Result${varies}:`,
    '',
    '```json',
    shownJson(shortened(example.result.value)),
    '```',
  ]
}

/** A method's own errors; those of any call stand once, above. */
function errorWords(errors, components) {
  const known = errors.map((error) => (error.$ref ? components[error.$ref.replace(/^.*\//, '')] : error))
  const own = known.filter(({ code }) => code !== -32602 && code !== -32011)
  return own.map(({ code, message }) => `- \`${code}\` ${message}`)
}

function methodSection(method, components) {
  const { name, summary, params, result, errors } = method
  const aliases = method['x-aliases'] ?? []
  const own = errorWords(errors, components.errors)
  return [
    `## ${name}`,
    '',
    cell(summary),
    ...(aliases.length > 0 ? ['', `Also: ${aliases.map(code).join(', ')}`] : []),
    '',
    ...(params.length === 0 ? ['No parameters.'] : ['Parameters:', '', ...params.map(parameterLine)]),
    '',
    `Returns: ${code(shape(result.schema))}${remark(result.schema)}`,
    ...(own.length > 0 ? ['', 'Errors:', '', ...own] : []),
    ...exampleLines(method),
    '',
  ].join('\n')
}

/** The document of all methods, those included that only some presets open. */
async function discover() {
  const node = await createNode({
    bitcoin: true,
    methods: METHODS.filter(({ presets }) => presets !== undefined).map(({ name }) => `+${name}`),
  })
  const document = await node.request({ method: 'rpc.discover' })
  await node.close()
  return document
}

/** The first sentence of a summary, which may be one of several. */
const firstSentence = (text) => /^(?:[^.;]|[.;](?!\s))+/.exec(text)?.[0] ?? text

const anchorOf = (name) => name.toLowerCase().replaceAll('.', '')

function indexPage(groups, components) {
  const errors = Object.values(components.errors).map(({ code, message }) => [`\`${code}\``, cell(message)])
  const named = Object.entries(components.schemas).map(([name, schema]) => {
    const short = schema.type === 'object' ? objectShape(schema, true) : shape(schema)
    return [code(name), `${codeCell(short)}${remark(schema)}`]
  })
  return page([
    NOTICE,
    '# JSON-RPC methods',
    '',
    'JSON-RPC 2.0 over HTTP (POST to any path) and WebSocket; parameters by position. The machine-readable version of this',
    'document: `rpc.discover`, or `GET /openrpc.json` (OpenRPC 1.3.2). On a terminal: `tandem methods [names] [--json]`.',
    'Errors, limits and deviations in detail: [rpc-reference.md](../internals/rpc-reference.md).',
    '',
    ...[...groups].flatMap(([name, members]) => [
      `## [${name}](${name}.md)`,
      '',
      NAMESPACES[name],
      '',
      ...members.map(
        (method) =>
          `- [${method.name}](${name}.md#${anchorOf(method.name)}): ${cell(firstSentence(method.summary))}`,
      ),
      '',
    ]),
    '## Values',
    '',
    'Numbers are `QUANTITY` (hex, no leading zeros) unless a method takes or returns a JSON integer, which its section states. `BLOCK` is',
    'a hex number, one of the tags `latest`, `earliest`, `pending`, and where the parameter allows it a block hash or an',
    'EIP-1898 object. A name with `?` may be absent.',
    '',
    table(['name', 'shape'], named),
    '',
    '## Errors',
    '',
    'Any call may answer -32602 (parameters), -32011 (time or size), -32601, -32603, -32001, -32002 and -32005 (rate). A',
    'method lists only its further errors.',
    '',
    table(['code', 'meaning'], errors),
    '',
  ])
}

const namespacePage = (name, members, components) =>
  page([
    NOTICE,
    `# ${name}`,
    '',
    `${NAMESPACES[name]} [All methods](README.md), [values](README.md#values) and [errors](README.md#errors).`,
    '',
    ...members.map((method) => methodSection(method, components)),
  ])

/** The pages by their names below docs/methods. Throws for a namespace without a description. */
export async function methodPages() {
  const { methods, components } = await discover()
  const groups = new Map()
  for (const method of methods) {
    const [{ name }] = method.tags
    if (NAMESPACES[name] === undefined)
      throw new Error(`scripts/docs/methods.mjs does not describe the namespace ${name}.`)
    groups.set(name, [...(groups.get(name) ?? []), method])
  }
  const pages = [...groups].map(([name, members]) => [`${name}.md`, namespacePage(name, members, components)])
  return new Map([['README.md', indexPage(groups, components)], ...pages])
}
