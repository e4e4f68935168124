/** The union bridge: a contract that may take coins out of the Bridge up to a cap, and give them back (RSKIP-502, 529). */

import { PRECOMPILE_ADDRESS } from '../../../../chain/config.ts'
import { EMPTY } from '../../../../encoding/bytes.ts'
import { fromHex, type Hex, toFixedHex } from '../../../../encoding/hex.ts'
import { asBigInt, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameString } from '../../../../encoding/rlp-frame.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { encodeBytes, encodeInt, encodeUnsigned } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { CAP_MULTIPLIER, MAX_EVENT_BYTES, UNION_LOCKING_CAP } from '../constants/network.ts'
import { logUnionCapIncreased, logUnionPermissions, logUnionReleased, logUnionRequested } from '../events.ts'
import type { BridgeCall, BridgeMethod } from '../method.ts'
import type { BridgeStore } from '../storage/store.ts'

/** Results. */
const RESULT = { success: 0, unauthorized: -1, invalid: -2, disabled: -3 } as const

/** The local network's union bridge until one is set. */
const NO_ADDRESS: Hex = '0x0000000000000000000000000000000000000000'

const GAS = 8_000n
const READ_GAS = 3_000n

function unionAddress(store: BridgeStore): Hex {
  const bytes = store.read(CELL.unionAddress)
  return bytes.length === 0 ? NO_ADDRESS : toFixedHex(asBigInt(decodeRlp(bytes), 'address'), 20)
}

function unionCap(store: BridgeStore): bigint {
  return store.readInteger(CELL.unionLockingCap) ?? UNION_LOCKING_CAP
}

/** Wei that the union bridge has. */
function transferred(store: BridgeStore): bigint {
  return store.readInteger(CELL.unionTransferred) ?? 0n
}

/** Requests and releases are enabled until they are switched off. */
function isEnabled(store: BridgeStore, slot: bigint): boolean {
  return store.readInteger(slot) !== 0n
}

function requireCaller({ env }: BridgeCall, authorized: Hex): void {
  if (env.caller !== authorized)
    throw new PrecompileFailure('the sender is not authorized to call the method')
}

function setAddress(call: BridgeCall): number {
  if (call.network.chain === 'mainnet') throw new PrecompileFailure('not on the main network')
  requireCaller(call, call.network.senders.unionAddressAuthorizer)
  call.store.write(CELL.unionAddress, frameString(fromHex(call.args.address(0))))
  return RESULT.success
}

function increaseCap(call: BridgeCall): number {
  requireCaller(call, call.network.senders.unionCapAuthorizer)
  const { args, store, env } = call
  const cap = args.integer(0)
  const current = unionCap(store)
  if (cap <= current || cap > current * CAP_MULTIPLIER) return RESULT.invalid
  store.writeInteger(CELL.unionLockingCap, cap)
  logUnionCapIncreased(env, [env.caller], [current, cap])
  return RESULT.success
}

function request({ args, store, env }: BridgeCall): number {
  const union = unionAddress(store)
  if (env.caller !== union) return RESULT.unauthorized
  if (!isEnabled(store, CELL.unionRequestEnabled)) return RESULT.disabled
  const wei = args.integer(0)
  const total = transferred(store) + wei
  if (wei <= 0n || total > unionCap(store)) return RESULT.invalid
  store.writeInteger(CELL.unionTransferred, total)
  env.transfer(union, wei)
  logUnionRequested(env, [union], [wei])
  return RESULT.success
}

function release({ store, env }: BridgeCall): number {
  const { caller, value } = env
  if (caller !== unionAddress(store)) return RESULT.unauthorized
  if (!isEnabled(store, CELL.unionReleaseEnabled)) return RESULT.disabled
  if (value === 0n) return RESULT.invalid
  const left = transferred(store) - value
  if (left < 0n) {
    setPermissions(store, false, false)
    logUnionPermissions(env, [PRECOMPILE_ADDRESS.bridge], [0n, 0n])
    return RESULT.invalid
  }
  store.writeInteger(CELL.unionTransferred, left)
  logUnionReleased(env, [caller], [value])
  return RESULT.success
}

/** Coins that are not accepted go back to the caller. */
function releaseOrRefund(call: BridgeCall): number {
  const result = release(call)
  const { env } = call
  if (result !== RESULT.success && env.value > 0n) env.transfer(env.caller, env.value)
  return result
}

function setPermissions(store: BridgeStore, canRequest: boolean, canRelease: boolean): void {
  store.writeInteger(CELL.unionRequestEnabled, canRequest ? 1n : 0n)
  store.writeInteger(CELL.unionReleaseEnabled, canRelease ? 1n : 0n)
}

function changePermissions(call: BridgeCall): number {
  requireCaller(call, call.network.senders.unionPermissionsAuthorizer)
  const { args, store, env } = call
  const canRequest = args.flag(0)
  const canRelease = args.flag(1)
  const isSet =
    isEnabled(store, CELL.unionRequestEnabled) === canRequest &&
    isEnabled(store, CELL.unionReleaseEnabled) === canRelease
  if (isSet) return RESULT.success
  setPermissions(store, canRequest, canRelease)
  logUnionPermissions(env, [env.caller], [canRequest ? 1n : 0n, canRelease ? 1n : 0n])
  return RESULT.success
}

function setEvent(slot: bigint, data: (call: BridgeCall) => Uint8Array) {
  return (call: BridgeCall): Uint8Array => {
    requireCaller(call, unionAddress(call.store))
    const bytes = data(call)
    if (bytes.length > MAX_EVENT_BYTES) throw new PrecompileFailure('the data of the event are too long')
    call.store.write(slot, bytes)
    return EMPTY
  }
}

/** Events came with a rule of their own. */
function ruleOf(signature: string): 'rskip502' | 'rskip529' {
  return signature.includes('Event') ? 'rskip529' : 'rskip502'
}

function change(signature: string, run: (call: BridgeCall) => Uint8Array): BridgeMethod {
  return { signature, gas: GAS, since: ruleOf(signature), run }
}

function read(signature: string, run: (call: BridgeCall) => Uint8Array): BridgeMethod {
  return { signature, gas: READ_GAS, isView: true, since: ruleOf(signature), run }
}

/** All about the union bridge. Amounts in wei. */
export const UNION_METHODS: readonly BridgeMethod[] = [
  read('getUnionBridgeContractAddress()', ({ store }) => encodeUnsigned(BigInt(unionAddress(store)))),
  read('getUnionBridgeLockingCap()', ({ store }) => encodeInt(unionCap(store))),
  read('getSuperEvent()', ({ store }) => encodeBytes(store.read(CELL.superEvent))),
  read('getBaseEvent()', ({ store }) => encodeBytes(store.read(CELL.baseEvent))),
  change('setUnionBridgeContractAddressForTestnet(address)', (call) => encodeInt(setAddress(call))),
  change('increaseUnionBridgeLockingCap(uint256)', (call) => encodeInt(increaseCap(call))),
  change('requestUnionBridgeRbtc(uint256)', (call) => encodeInt(request(call))),
  change('releaseUnionBridgeRbtc()', (call) => encodeInt(releaseOrRefund(call))),
  change('setUnionBridgeTransferPermissions(bool,bool)', (call) => encodeInt(changePermissions(call))),
  change(
    'setSuperEvent(bytes)',
    setEvent(CELL.superEvent, ({ args }) => args.bytes(0)),
  ),
  change(
    'clearSuperEvent()',
    setEvent(CELL.superEvent, () => EMPTY),
  ),
  change(
    'setBaseEvent(bytes)',
    setEvent(CELL.baseEvent, ({ args }) => args.bytes(0)),
  ),
  change(
    'clearBaseEvent()',
    setEvent(CELL.baseEvent, () => EMPTY),
  ),
]
