/** The code of a contract: its selectors with their names where they are known, its bytes, and its storage. */
import { useEffect, useState } from 'preact/hooks'
import { type Checked, objectOf, orNull, recordOf } from '../checks.ts'
import { callFor } from '../client.ts'
import { byteLength, counted, type Hex, isHex, shortWord } from '../format.ts'
import { type AbiEntry, isBlock } from '../model.ts'
import { blockOfMoment, type Moment } from '../moment.ts'
import { useQuery } from '../query.ts'
import { knownSignature, selectorsOf } from '../selectors.ts'
import { may } from '../store.ts'
import { Section, Show, Table } from './layout.tsx'
import { Pager } from './pager.tsx'
import { Bytes, Mono } from './values.tsx'

/** Selectors in the table; code without a dispatcher can hold any constants. */
const MOST_SELECTORS = 200

/** The signature of a selector by the contract's own ABI, or a widespread one. */
function FunctionName({ selector, own }: { readonly selector: Hex; readonly own: string | undefined }) {
  if (own !== undefined) return <span class="wrap">{own}</span>
  const usual = knownSignature(selector)
  return <span class="dim wrap">{usual === undefined ? 'unknown' : `${usual}, usually`}</span>
}

/** The section of the code. */
export function AddressCode({ code, abi }: { readonly code: Hex; readonly abi: readonly AbiEntry[] }) {
  const named = new Map(abi.flatMap(({ selector, signature }) => (selector ? [[selector, signature]] : [])))
  const selectors = selectorsOf(code).slice(0, MOST_SELECTORS)
  return (
    <Section title="Code">
      <p class="dim empty">{counted(byteLength(code), 'byte')}</p>
      {selectors.length > 0 && (
        <Table
          label="Selectors"
          columns={['Selector', 'Function']}
          rows={selectors.map((selector) => ({
            key: selector,
            cells: [
              <code key="selector">{selector}</code>,
              <FunctionName key="name" selector={selector} own={named.get(selector)} />,
            ],
          }))}
        />
      )}
      <details>
        <summary>Bytes</summary>
        <Bytes hex={code} label="Code" />
      </details>
    </Section>
  )
}

const SLOTS = 32

const isRange = objectOf({
  storage: recordOf(isHex, objectOf({ key: isHex, value: isHex })),
  nextKey: orNull(isHex),
})
type Range = Checked<typeof isRange>

async function loadRange(
  address: Hex,
  start: Hex,
  moment: Moment | undefined,
  signal: AbortSignal,
): Promise<Range> {
  const block = [blockOfMoment(moment), false]
  const { hash, transactions } = await callFor(isBlock, 'eth_getBlockByNumber', block, signal)
  const parameters = [hash, moment?.transactions ?? transactions.length, address, start, SLOTS]
  const range = await callFor(orNull(isRange), 'debug_storageRangeAt', parameters, signal)
  return range ?? { storage: {}, nextKey: null }
}

/** The section of the storage, after the head or at a moment, in the order of the hashes of the slots; absent where the caller may not read it. */
export function AddressStorage({
  address,
  moment,
}: {
  readonly address: Hex
  readonly moment?: Moment | undefined
}) {
  const [starts, setStarts] = useState<readonly Hex[]>(['0x'])
  useEffect(() => setStarts(['0x']), [address])
  const start = starts.at(-1) ?? '0x'
  const isOpen = may('debug_storageRangeAt')
  const range = useQuery(
    `${address} ${start} ${moment?.block} ${moment?.transactions} ${isOpen}`,
    async (signal) => (isOpen ? loadRange(address, start, moment, signal) : undefined),
    'live',
  )
  if (!isOpen) return null
  return (
    <Section title="Storage">
      <Show loaded={range}>
        {({ storage, nextKey }) => (
          <>
            <Table
              label="Storage"
              columns={['Slot', 'Value']}
              rows={Object.values(storage).map(({ key, value }) => ({
                key,
                cells: [
                  <Mono key="slot" wrap>
                    {shortWord(key)}
                  </Mono>,
                  <span key="value" class="mono wrap" title={BigInt(value).toString()}>
                    {shortWord(value)}
                  </span>,
                ],
              }))}
            />
            <Pager
              label="slots"
              names={['Back', 'More']}
              newer={starts.length > 1 ? () => setStarts(starts.slice(0, -1)) : undefined}
              older={nextKey === null ? undefined : () => setStarts([...starts, nextKey])}
            />
          </>
        )}
      </Show>
    </Section>
  )
}
