/** What a caller can ask for that costs a node far more than asking. All go by raw HTTP, prepared before anything is measured. */
import { signatureHash } from '../../src/abi/entry.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { assemble } from '../support/assembler.ts'
import { frame, handshake } from './frames.ts'
import { type RawSocket, rawSocket } from './raw-socket.ts'

const HERE = `0x${'1'.repeat(40)}`
const NOWHERE = `0x${'2'.repeat(40)}`
const GAS = '0xffffffffff'

const call = (method: string, ...params: unknown[]) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
/** A call of code that stands nowhere, on the state of the head. */
const running = (code: string, data = '0x') =>
  call('eth_call', { to: HERE, data, gas: GAS }, 'latest', { [HERE]: { code } })
const program = (source: string) => toHex(assemble(source))
const word = (value: number) => value.toString(16).padStart(64, '0')

/** RLP of lists within lists. */
function nested(bytes: number): string {
  const prefixes: string[] = []
  for (let length = 0; length < bytes; ) {
    const digits = length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0')
    const prefix =
      length < 56 ? (0xc0 + length).toString(16) : (0xf7 + digits.length / 2).toString(16) + digits
    prefixes.push(prefix)
    length += prefix.length / 2
  }
  return `0x${prefixes.reverse().join('')}`
}

/** One body, sent so many times at once, each on a connection of its own. */
export interface Attack {
  readonly name: string
  readonly bodies: readonly string[]
}

const times = (count: number, body: string) => new Array<string>(count).fill(body)
const traced = (code: string, options: object) =>
  call('debug_traceCall', { to: HERE, gas: GAS }, 'latest', {
    ...options,
    stateOverrides: { [HERE]: { code } },
  })
const LOOP = program('top: @top JUMP')
/** A call of a precompiled contract with a list of so many members, all empty. */
const longList = (members: number) =>
  `${signatureHash('getMultisigScriptHash(int256,bytes[])').slice(0, 10)}${word(1)}${word(64)}${word(members)}${'00'.repeat(members + 64)}`

export const ATTACKS: readonly Attack[] = [
  { name: 'loops without end', bodies: times(30, running(LOOP)) },
  { name: 'estimates without end', bodies: times(30, call('eth_estimateGas', { data: LOOP, gas: GAS })) },
  {
    name: 'memory as much as gas buys, in every frame',
    bodies: times(20, running(program('top: 0 MSIZE MLOAD 0 0 0 0 0 ADDRESS GAS CALL POP @top JUMP'))),
  },
  { name: 'answers of megabytes', bodies: times(20, running(program('1800000 0 RETURN'))) },
  {
    name: 'calldata of megabytes',
    bodies: times(8, call('eth_call', { to: NOWHERE, data: `0x${'00'.repeat(2_400_000)}` })),
  },
  {
    name: 'copies of megabytes',
    bodies: times(
      10,
      running(
        program(
          `top: 0 0 1000000 0 0 PUSH20 ${NOWHERE} 100 CALL POP 1000000 0 0 ADDRESS EXTCODECOPY @top JUMP`,
        ),
      ),
    ),
  },
  {
    name: 'large arguments of calls that have little gas',
    bodies: times(
      4,
      running(
        program(
          'CALLDATASIZE 0 0 CALLDATACOPY top: 0 0 CALLDATASIZE 0 0 PUSH20 0x0000000000000000000000000000000001000009 100 CALL POP @top JUMP',
        ),
        longList(400_000),
      ),
    ),
  },
  { name: 'traces of loops', bodies: times(6, traced(LOOP, {})) },
  {
    name: 'traces with memory',
    bodies: times(4, traced(program('1000000 MLOAD top: MSIZE 0 MSTORE @top JUMP'), { enableMemory: true })),
  },
  { name: 'batches of all that', bodies: times(5, `[${times(25, running(LOOP)).join(',')}]`) },
  {
    name: 'raw transactions of lists within lists',
    bodies: times(6, call('eth_sendRawTransaction', nested(2_000_000))),
  },
  { name: 'blocks of lists within lists', bodies: times(6, call('evm_importBlock', nested(2_000_000))) },
  {
    name: 'filters as long as they may be',
    bodies: times(
      60,
      call('eth_newFilter', {
        fromBlock: '0x0',
        topics: [Array.from({ length: 5000 }, (_, i) => `0x${word(i)}`)],
      }),
    ),
  },
  { name: 'texts that are no JSON', bodies: times(20, `[${'{"a":'.repeat(600_000)}`) },
  { name: 'lists of nothing', bodies: times(5, `[${'[],'.repeat(1_000_000)}[]]`) },
  {
    name: 'heights of megabytes',
    bodies: times(10, call('eth_call', { to: NOWHERE }, '9'.repeat(4_000_000))),
  },
]

/** Sends one body; all that comes back until the node hangs up. */
export async function sendAttack(port: number, body: string): Promise<string> {
  const socket = await rawSocket(port)
  socket.send(
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
  )
  socket.send(body)
  return socket.ended()
}

/** Connections that send the beginning of something and no more. */
export async function openSlowly(port: number, count: number): Promise<readonly RawSocket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => rawSocket(port)))
  for (const [i, socket] of sockets.entries()) {
    if (i % 3 === 0) socket.send('POST / HTTP/1.1\r\nHost: local')
    else if (i % 3 === 1)
      socket.send(
        'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
      )
    else {
      socket.send(handshake())
      socket.send(frame('[', { fin: false }))
    }
  }
  return sockets
}
