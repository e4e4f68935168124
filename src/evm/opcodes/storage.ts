/** Storage, transient storage and logs: 0x54, 0x55, 0x5c, 0x5d, 0xa0 to 0xa4. */
import type { Hex } from '../../encoding/hex.ts'
import { toFixedHex } from '../../encoding/hex.ts'
import { CHECKED } from '../compiled/form.ts'
import type { Frame } from '../frame.ts'
import { GAS, REFUND } from '../gas-schedule.ts'
import { type Operation, operation, STATE_TICKS } from './operation.ts'

/** Flat prices, no net metering, no sentry for the last 2,300 gas (docs/internals/protocol.md#62-gas-schedule). */
function store(frame: Frame): void {
  frame.forbidStatic()
  const { journal } = frame.session
  const slot = frame.pop()
  const value = frame.pop()
  const old = journal.state.storage(frame.address, slot)
  frame.charge(old === 0n && value !== 0n ? GAS.storageSet : GAS.storageReset)
  if (old !== 0n && value === 0n) journal.refund += REFUND.storageClear
  if (old !== value) journal.state.putStorage(frame.address, slot, value)
  frame.spend(STATE_TICKS)
}

function load(frame: Frame): void {
  frame.push(frame.session.journal.state.storage(frame.address, frame.pop()))
  frame.spend(STATE_TICKS)
}

function loadTransient(frame: Frame): void {
  frame.push(frame.session.journal.transient.get(frame.address, frame.pop()))
}

function storeTransient(frame: Frame): void {
  frame.forbidStatic()
  const slot = frame.pop()
  frame.session.journal.transient.put(frame.address, slot, frame.pop())
}

function logger(topicCount: number): Operation {
  const run = (frame: Frame) => {
    frame.forbidStatic()
    const from = frame.pop()
    const length = frame.pop()
    const offset = frame.expand(from, length, GAS.logByte * Number(length))
    const topics: Hex[] = []
    for (let i = 0; i < topicCount; i++) topics.push(toFixedHex(frame.pop(), 32))
    const { journal, tracer } = frame.session
    const log = { address: frame.address, topics, data: frame.read(offset, Number(length)) }
    journal.logs.push(log)
    tracer?.log?.(log)
  }
  const fee = GAS.log + GAS.logTopic * topicCount
  const traits = { compiled: CHECKED, hasDynamicGas: true }
  return operation(0xa0 + topicCount, `LOG${topicCount}`, fee, topicCount + 2, 0, run, traits)
}

export const SLOAD = operation(0x54, 'SLOAD', GAS.storageLoad, 1, 1, load, {
  compiled: { flow: 'checked', routine: 'load' },
})

export const SSTORE = operation(0x55, 'SSTORE', GAS.zero, 2, 0, store, {
  compiled: { flow: 'checked', routine: 'store' },
  hasDynamicGas: true,
})

export const STORAGE: readonly Operation[] = [
  SLOAD,
  SSTORE,
  operation(0x5c, 'TLOAD', GAS.transientStorage, 1, 1, loadTransient, {
    since: 'rskip446',
    compiled: CHECKED,
  }),
  operation(0x5d, 'TSTORE', GAS.transientStorage, 2, 0, storeTransient, {
    since: 'rskip446',
    compiled: CHECKED,
  }),
  ...[0, 1, 2, 3, 4].map(logger),
]
