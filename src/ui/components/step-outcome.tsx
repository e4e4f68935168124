/** What a simulated step does: result or failure, gas, call tree, asset changes, state changes, events. */
import type { ComponentChildren } from 'preact'
import { byteLength, counted, failureText, grouped, toBigInt, toNumber } from '../format.ts'
import { useQuery } from '../query.ts'
import type { MessageOutcome, Outcome, StateChange } from '../simulation/outcome.ts'
import { may } from '../store.ts'
import { type CallTree, decodeTree } from '../trace.ts'
import { AssetChanges } from './asset-changes.tsx'
import { CallTreeView, Failure } from './call-tree.tsx'
import { EventTable } from './event-table.tsx'
import { Fields } from './layout.tsx'
import { type ChangedAccount, ChangedAccounts } from './state-changes.tsx'
import { AddressLink, Bytes, DateAndAge } from './values.tsx'

function Part({
  title,
  isOpen,
  children,
}: {
  readonly title: string
  readonly isOpen: boolean
  readonly children: ComponentChildren
}) {
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}

function accountOf({
  address,
  balance,
  nonce,
  code,
  storage = [],
  variables = [],
}: StateChange): ChangedAccount {
  const side = (end: 'from' | 'to') => ({
    ...(balance && { balance: balance[end] }),
    ...(nonce && { nonce: toNumber(nonce[end]) }),
    ...(code && { code: code[end] }),
    storage: Object.fromEntries(storage.map((each) => [each.slot, each[end]])),
    variables: Object.fromEntries(variables.map((each) => [each.path, each[end]])),
  })
  return { address, before: side('from'), after: side('to') }
}

function Result({
  outcome,
  tree,
}: {
  readonly outcome: MessageOutcome
  readonly tree: CallTree | undefined
}) {
  const { returnData, contractAddress } = outcome
  if (contractAddress !== undefined) return <AddressLink address={contractAddress} full />
  const decoded = tree?.root.decoded?.output
  if (decoded !== undefined) return <span class="answer">{decoded}</span>
  return byteLength(returnData) === 0 ? (
    <span class="dim">no data</span>
  ) : (
    <Bytes hex={returnData} label="Returned data" />
  )
}

function Status({
  outcome,
  tree,
}: {
  readonly outcome: MessageOutcome
  readonly tree: CallTree | undefined
}) {
  if (outcome.status === '0x1') return <span class="badge good">Succeeds</span>
  return (
    <>
      <span class="badge bad">Fails</span>{' '}
      {tree !== undefined ? (
        <Failure tree={tree} />
      ) : (
        <strong class="failure">{failureText(outcome.error?.message ?? '')}</strong>
      )}
    </>
  )
}

function BlockPlace({ block: { number, timestamp } }: Pick<Outcome, 'block'>) {
  return (
    <>
      {grouped(toNumber(number))}, <DateAndAge seconds={timestamp} />
    </>
  )
}

function Effects({
  outcome,
  tree,
}: {
  readonly outcome: MessageOutcome
  readonly tree: CallTree | undefined
}) {
  const { assetChanges, stateChanges, logs } = outcome
  return (
    <>
      {tree !== undefined && (
        <Part title={counted(tree.count, 'call')} isOpen>
          <CallTreeView tree={tree} />
        </Part>
      )}
      {assetChanges.length > 0 && (
        <Part title={counted(assetChanges.length, 'asset change')} isOpen>
          <AssetChanges assets={assetChanges} />
        </Part>
      )}
      {stateChanges.length > 0 && (
        <Part title={counted(stateChanges.length, 'changed account')} isOpen>
          <ChangedAccounts accounts={stateChanges.map(accountOf)} />
        </Part>
      )}
      {logs.length > 0 && (
        <Part title={counted(logs.length, 'event')} isOpen={false}>
          <EventTable events={logs.map((log, index) => ({ log, index, decoded: log.decoded }))} />
        </Part>
      )}
    </>
  )
}

function MessageResult({ outcome, id }: { readonly outcome: MessageOutcome; readonly id: string }) {
  const { trace, gasUsed, block, contractAddress, status } = outcome
  const tree = useQuery(
    `simulated ${id} ${may('evm_decode')}`,
    async (signal) => (trace === undefined ? null : decodeTree(trace, signal)),
    'once',
  )
  const known = tree.value ?? undefined
  return (
    <>
      <Fields
        rows={[
          ['Status', <Status key="status" outcome={outcome} tree={known} />],
          [
            contractAddress === undefined ? 'Result' : 'Creates',
            status === '0x1' && <Result key="result" outcome={outcome} tree={known} />,
          ],
          ['Gas', `${grouped(toBigInt(gasUsed))} used`],
          ['Block', <BlockPlace key="block" block={block} />],
        ]}
      />
      <Effects outcome={outcome} tree={known} />
    </>
  )
}

/** The outcome; `id` names the run and the step. */
export function StepOutcome({ outcome, id }: { readonly outcome: Outcome; readonly id: string }) {
  if (outcome.kind === 'call' || outcome.kind === 'send') return <MessageResult outcome={outcome} id={id} />
  return <Fields rows={[['Block', <BlockPlace key="block" block={outcome.block} />]]} />
}
