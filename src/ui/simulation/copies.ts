/** Steps and simulations as texts to paste: commands for a shell, and modules for viem and ethers. */
import { type Call, changingCalls, readingCall, simulationCall } from './calls.ts'
import type { Scenario, ScenarioMessage, ScenarioStep } from './scenario.ts'

/** The tools that there are texts for. */
export const TOOLS = ['cast', 'viem', 'ethers', 'curl'] as const
export type Tool = (typeof TOOLS)[number]

/** How the texts of a tool are written. */
interface Writer {
  /** Any calls, one after another. */
  calls(url: string, calls: readonly Call[]): string
  /** `eth_call` without overrides, where the tool has its own words for it. */
  read?(url: string, message: ScenarioMessage, block: string): string | undefined
  /** `eth_sendTransaction`, likewise; does the chain take typed transactions? */
  send?(url: string, message: ScenarioMessage, from: string, takesTyped: boolean): string
}

/** A word of a shell. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const decimal = (hex: string): string => BigInt(hex).toString()

/** An option and its value for `cast`; nothing where there is no value. */
const option = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [name, value]

/** Options of `cast` that both commands have. */
function castOptions({ value, gas, gasPrice }: ScenarioMessage): string[] {
  return [
    ...option('--value', value && decimal(value)),
    ...option('--gas-limit', gas && decimal(gas)),
    ...option('--gas-price', gasPrice && decimal(gasPrice)),
  ]
}

const cast: Writer = {
  calls: (url, calls) =>
    calls
      .map(
        ([method, params]) =>
          `cast rpc --rpc-url ${quoted(url)} --raw ${method} ${quoted(JSON.stringify(params))}`,
      )
      .join('\n'),
  read(url, message, block) {
    const { from, to, data, nonce } = message
    if (to === undefined || nonce !== undefined) return undefined
    const words = [...option('--from', from), ...castOptions(message), ...option('--data', data)]
    const height = /^0x.{1,16}$/.test(block) ? decimal(block) : block
    return ['cast call --rpc-url', quoted(url), '--block', height, ...words, to].join(' ')
  },
  send(url, message, from, takesTyped) {
    const { to, data, nonce, gasPrice } = message
    // A gas price is that of a legacy transaction; in another one cast takes it for the maximum fee.
    const legacy = takesTyped && gasPrice === undefined ? [] : ['--legacy']
    const words = [...castOptions(message), ...option('--nonce', nonce && decimal(nonce))]
    const target = to === undefined ? ['--create', data ?? '0x'] : [...option('--data', data), to]
    const place = ['--unlocked', '--rpc-url', quoted(url), '--from', from]
    return ['cast send', ...legacy, ...place, ...words, ...target].join(' ')
  },
}

const curl: Writer = {
  calls: (url, calls) =>
    calls
      .map(([method, params], i) => {
        const body = quoted(JSON.stringify({ jsonrpc: '2.0', id: i + 1, method, params }))
        return `curl -s ${quoted(url)} -H 'Content-Type: application/json' -d ${body}`
      })
      .join('\n'),
}

type Members = readonly (readonly [name: string, value: string | undefined])[]

/** An object of JavaScript, a line for each member that has a value. */
function literal(...members: Members): string {
  const lines = members.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name}: ${value},`]))
  return ['{', ...lines, '}'].join('\n')
}

const text = (value: string | undefined): string | undefined => value && JSON.stringify(value)
const integer = (value: string | undefined): string | undefined => value && `${decimal(value)}n`

const importLine = (names: string, library: string): string =>
  `import { ${names} } from ${JSON.stringify(library)}`

const viemHead = (kind: string, url: string): string[] => [
  importLine(`create${kind}Client, http`, 'viem'),
  '',
  `const client = create${kind}Client({ transport: http(${JSON.stringify(url)}) })`,
]

function viemMembers({ to, data, value, gas, gasPrice, nonce }: ScenarioMessage): Members {
  return [
    ['to', text(to)],
    ['data', text(data)],
    ['value', integer(value)],
    ['gas', integer(gas)],
    ['gasPrice', integer(gasPrice)],
    ['nonce', nonce && decimal(nonce)],
  ]
}

const viem: Writer = {
  calls: (url, calls) =>
    [
      ...viemHead('Public', url),
      ...calls.map(
        ([method, params]) =>
          `console.log(await client.request({ method: "${method}", params: ${JSON.stringify(params)} }))`,
      ),
    ].join('\n'),
  read(url, message, block) {
    if (block.length === 66) return undefined
    const height = block.startsWith('0x') ? integer(block) : undefined
    const tag = height === undefined ? text(block) : undefined
    const account = ['account', text(message.from)] as const
    const place = [
      ['blockNumber', height],
      ['blockTag', tag],
    ] as const
    const call = `const { data } = await client.call(${literal(account, ...viemMembers(message), ...place)})`
    return [...viemHead('Public', url), call, 'console.log(data)'].join('\n')
  },
  send(url, message, from) {
    const account = ['account', text(from)] as const
    const members = literal(account, ...viemMembers(message), ['chain', 'null'])
    const call = `const hash = await client.sendTransaction(${members})`
    return [...viemHead('Wallet', url), call, 'console.log(hash)'].join('\n')
  },
}

const ethersHead = (url: string): string[] => [
  importLine('JsonRpcProvider', 'ethers'),
  '',
  `const provider = new JsonRpcProvider(${JSON.stringify(url)})`,
]

function ethersMembers({ to, data, value, gas, gasPrice, nonce }: ScenarioMessage): Members {
  return [
    ['to', text(to)],
    ['data', text(data)],
    ['value', integer(value)],
    ['gasLimit', integer(gas)],
    ['gasPrice', integer(gasPrice)],
    ['nonce', nonce && decimal(nonce)],
  ]
}

const ethers: Writer = {
  calls: (url, calls) =>
    [
      ...ethersHead(url),
      ...calls.map(
        ([method, params]) => `console.log(await provider.send("${method}", ${JSON.stringify(params)}))`,
      ),
    ].join('\n'),
  read(url, message, block) {
    const members = literal(['from', text(message.from)], ...ethersMembers(message), [
      'blockTag',
      text(block),
    ])
    return [...ethersHead(url), `console.log(await provider.call(${members}))`].join('\n')
  },
  send(url, message, from) {
    return [
      ...ethersHead(url),
      `const signer = await provider.getSigner(${JSON.stringify(from)})`,
      `const transaction = await signer.sendTransaction(${literal(...ethersMembers(message))})`,
      'console.log((await transaction.wait()).hash)',
    ].join('\n')
  },
}

const WRITERS: Readonly<Record<Tool, Writer>> = { cast, viem, ethers, curl }

/** The text that simulates all steps that are on. */
export function simulationText(tool: Tool, url: string, scenario: Scenario): string {
  return WRITERS[tool].calls(url, [simulationCall(scenario)])
}

/**
 * The text that does what one step does: a call reads, the others change the chain; `takesTyped`: by transactions of other
 * types than the legacy one, where the tool prefers these. Throws an Error in words.
 */
export function stepText(
  tool: Tool,
  url: string,
  scenario: Scenario,
  step: ScenarioStep,
  takesTyped = false,
): string {
  const writer = WRITERS[tool]
  const { call, send } = step
  if (call !== undefined) {
    const { block, stateOverrides, blockOverrides, transactionIndex } = scenario
    const isPlain = (stateOverrides ?? blockOverrides ?? transactionIndex) === undefined
    const own = isPlain ? writer.read?.(url, call, block) : undefined
    return own ?? writer.calls(url, [readingCall(scenario, step)])
  }
  if (send !== undefined && send.from === undefined) throw new Error('Enter the account that sends')
  if (send?.from !== undefined && writer.send !== undefined)
    return writer.send(url, send, send.from, takesTyped)
  return writer.calls(url, changingCalls(step))
}
