/** The Bridge's methods that read federations. */
import { EMPTY } from '../../../../encoding/bytes.ts'
import { encodeBytes, encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import type { BridgeCall, BridgeMethod } from '../method.ts'
import { ABSENT, encodeText, localView, openView, type Period, type Run } from '../views.ts'
import { pendingHash } from './commitment.ts'
import type { Federation } from './federation.ts'
import type { Member } from './members.ts'

type Find = (call: BridgeCall) => Federation | undefined

const KEY_TYPES = ['btc', 'rsk', 'mst']

/** Index of a type of key in a member. */
function keyType({ args }: BridgeCall): number {
  const type = KEY_TYPES.indexOf(args.text(1))
  if (type < 0) throw new PrecompileFailure('no such type of key')
  return type
}

/** A member's key; no bytes when the federation does not exist. */
function keyOf(members: readonly Member[] | undefined, index: number, type: number): Uint8Array {
  if (members === undefined) return encodeBytes(EMPTY)
  const key = members[index]?.[type]
  if (key === undefined) throw new PrecompileFailure('no such federator')
  return encodeBytes(key)
}

/** Reads a key of any type; before RSKIP-123 that of the parent chain. */
function keys(
  name: string,
  gas: bigint,
  find: (call: BridgeCall) => readonly Member[] | undefined,
  period?: Period,
) {
  const ofType: Run = (call) => {
    const type = keyType(call)
    return keyOf(find(call), call.args.index(0), type)
  }
  const early = name.replace('OfType', '')
  return [
    localView(`${name}(int256,string)`, gas, ofType, period ?? { since: 'rskip123' }),
    ...(period === undefined
      ? [
          localView(`${early}(int256)`, gas, (call) => keyOf(find(call), call.args.index(0), 0), {
            until: 'rskip123',
          }),
        ]
      : []),
  ]
}

/** A number of a federation, or the result for an absent one. */
function number(find: Find, read: (federation: Federation) => number): Run {
  return (call) => {
    const federation = find(call)
    return encodeInt(federation === undefined ? ABSENT : read(federation))
  }
}

/** Seconds since RSKIP-419, milliseconds before. */
function time(find: Find): Run {
  return (call) => {
    const federation = find(call)
    if (federation === undefined) return encodeInt(ABSENT)
    const { creationTime } = federation
    return encodeInt(call.isActive('rskip419') ? Math.floor(creationTime / 1000) : creationTime)
  }
}

/** Address, size, threshold, creation of a federation, by the prefix of the methods' names. */
function numbersOf(
  prefix: string,
  find: Find,
  gas: readonly [address: bigint, other: bigint],
  period?: Period,
) {
  const [addressGas, otherGas] = gas
  return [
    localView(
      `get${prefix}FederationAddress()`,
      addressGas,
      (call) => encodeText(find(call)?.address ?? ''),
      period,
    ),
    localView(
      `get${prefix}FederationSize()`,
      otherGas,
      number(find, ({ members }) => members.length),
      period,
    ),
    localView(`get${prefix}FederationCreationTime()`, otherGas, time(find), period),
    localView(
      `get${prefix}FederationCreationBlockNumber()`,
      otherGas,
      number(find, ({ creationBlock }) => creationBlock),
      period,
    ),
  ]
}

const active: Find = ({ federations }) => federations.active()
const retiring: Find = ({ federations }) => federations.retiring()
const proposed: Find = ({ federations }) => federations.proposed()
const pending = ({ federationCells }: BridgeCall) => federationCells.pending.get()

/** Since RSKIP-186 the height is kept: that of the coming federation once it is old enough. */
function activeCreationHeight({ federationCells, federations, env, isActive }: BridgeCall): number {
  if (!isActive('rskip186')) return 0
  const next = federationCells.nextCreationHeight.get()
  if (next !== undefined && env.number >= next + federations.activationAge) return next
  return federationCells.activeCreationHeight.get() ?? 0
}

const pendingFederationHash: Run = (call) => {
  const members = pending(call)
  return encodeBytes(members === undefined ? EMPTY : pendingHash(members))
}

/** All of them. */
export const FEDERATION_METHODS: readonly BridgeMethod[] = [
  ...numbersOf('', active, [11_000n, 10_000n]),
  localView(
    'getFederationThreshold()',
    11_000n,
    number(active, ({ threshold }) => threshold),
  ),
  ...keys('getFederatorPublicKeyOfType', 10_000n, (call) => active(call)?.members),
  ...numbersOf('Retiring', retiring, [3_000n, 3_000n]),
  localView(
    'getRetiringFederationThreshold()',
    3_000n,
    number(retiring, ({ threshold }) => threshold),
  ),
  ...keys('getRetiringFederatorPublicKeyOfType', 3_000n, (call) => retiring(call)?.members),
  ...numbersOf('Proposed', proposed, [3_000n, 3_000n], { since: 'rskip419' }),
  ...keys('getProposedFederatorPublicKeyOfType', 3_000n, (call) => proposed(call)?.members, {
    since: 'rskip419',
  }),
  localView('getPendingFederationHash()', 3_000n, pendingFederationHash),
  localView('getPendingFederationSize()', 3_000n, (call) => encodeInt(pending(call)?.length ?? ABSENT)),
  ...keys('getPendingFederatorPublicKeyOfType', 3_000n, pending),
  openView(
    'getActivePowpegRedeemScript()',
    30_000n,
    (call) => encodeBytes(call.federations.active().redeemScript),
    {
      since: 'rskip293',
    },
  ),
  openView(
    'getActiveFederationCreationBlockHeight()',
    3_000n,
    (call) => encodeInt(activeCreationHeight(call)),
    {
      since: 'rskip186',
    },
  ),
]
