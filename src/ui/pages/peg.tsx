/** `#/peg`: the Bitcoin chain beside this one, the federation, and what waits to go from one to the other. */
import { bitcoins, meaningText, satoshiOf, stateText } from '../bitcoin.ts'
import { type Checked, isFlag, isNumber, isText, listOf, objectOf, orNull } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { ActionForm, Field, useText } from '../components/form.tsx'
import { Fields, Heading, Section, Show, Table } from '../components/layout.tsx'
import { BitcoinLink, BlockLink, Mono, TransactionLink } from '../components/values.tsx'
import { counted, grouped, isAddress, isHex, toNumber } from '../format.ts'
import { type Loaded, useQuery } from '../query.ts'
import { announce, head, may } from '../store.ts'

const isFederation = objectOf({
  address: isText,
  threshold: isNumber,
  creationBlock: isNumber,
  members: listOf(objectOf({ key: isText, hasKey: isFlag, conduct: isText })),
})
type Federation = Checked<typeof isFederation>

/** `btc_status`. */
const isStatus = objectOf({
  bitcoin: objectOf({ height: isNumber, hash: isText, mempool: isNumber }),
  bridge: objectOf({ height: isNumber, hash: isText }),
  active: isFederation,
  retiring: orNull(isFederation),
  proposed: orNull(isFederation),
  locked: isNumber,
  lockingCap: isNumber,
  feePerKb: isNumber,
  minimumPegIn: isNumber,
  minimumPegOut: isNumber,
  pegInConfirmations: isNumber,
  pegIns: listOf(
    objectOf({
      bitcoinTransaction: isText,
      satoshi: isNumber,
      confirmations: isNumber,
      ignored: orNull(isText),
    }),
  ),
  pegOuts: listOf(
    objectOf({
      stage: isText,
      receiver: orNull(isText),
      satoshi: orNull(isNumber),
      transaction: orNull(isHex),
      bitcoinTransaction: orNull(isText),
      confirmations: orNull(isNumber),
      needed: orNull(isNumber),
      missing: orNull(isNumber),
    }),
  ),
  history: listOf(
    objectOf({
      kind: isText,
      status: isText,
      bitcoinTransaction: isText,
      satoshi: orNull(isNumber),
      transaction: isHex,
      block: isNumber,
      reason: orNull(isText),
    }),
  ),
})
type Status = Checked<typeof isStatus>

function Chains({ status: { bitcoin, bridge } }: { readonly status: Status }) {
  const behind = bitcoin.height - bridge.height
  return (
    <Section title="Both chains">
      <Fields
        rows={[
          [
            'This chain',
            head.value === undefined ? undefined : `block ${grouped(toNumber(head.value.number))}`,
          ],
          ['Bitcoin', `block ${grouped(bitcoin.height)}`],
          ['Best Bitcoin block', <Mono wrap>{bitcoin.hash}</Mono>],
          ['Mempool', counted(bitcoin.mempool, 'transaction')],
          ['Known to the Bridge', `block ${grouped(bridge.height)}${behind > 0 ? `, ${behind} behind` : ''}`],
        ]}
      />
    </Section>
  )
}

function Limits({ status }: { readonly status: Status }) {
  return (
    <Section title="Limits">
      <Fields
        rows={[
          ['Locked', `${bitcoins(status.locked)} of at most ${bitcoins(status.lockingCap)}`],
          ['Least peg-in', bitcoins(status.minimumPegIn)],
          ['Least peg-out', bitcoins(status.minimumPegOut)],
          ['Fee of peg-outs', `${grouped(status.feePerKb)} satoshi for 1,000 bytes`],
        ]}
      />
    </Section>
  )
}

function Members({ title, federation }: { readonly title: string; readonly federation: Federation }) {
  const { address, threshold, members, creationBlock } = federation
  return (
    <Section title={title}>
      <Fields
        rows={[
          ['Bitcoin address', <Mono wrap>{address}</Mono>],
          ['Signatures', `${threshold} of ${members.length}`],
          ['Since block', grouped(creationBlock)],
        ]}
      />
      <Table
        label={`Members of ${title}`}
        columns={['Key', 'Node']}
        rows={members.map(({ key, hasKey, conduct }) => ({
          key,
          cells: [
            <Mono key="key" wrap>
              {key}
            </Mono>,
            hasKey ? conduct : 'elsewhere',
          ],
        }))}
      />
    </Section>
  )
}

function PegIns({ status: { pegIns, pegInConfirmations } }: { readonly status: Status }) {
  return (
    <Section title="Waiting peg-ins">
      <Table
        label="Waiting peg-ins"
        stacked
        columns={['Bitcoin transaction', { name: 'Amount', end: true }, { name: 'Confirmations', end: true }]}
        rows={pegIns.map(({ bitcoinTransaction, satoshi, confirmations, ignored }) => ({
          key: bitcoinTransaction,
          cells: [
            <BitcoinLink key="hash" hash={bitcoinTransaction} />,
            bitcoins(satoshi),
            ignored === null ? `${confirmations} of ${pegInConfirmations}` : `Ignored: ${ignored}`,
          ],
        }))}
      />
    </Section>
  )
}

type PegOut = Status['pegOuts'][number]

function progressOf({ stage, ...rest }: PegOut): string {
  return stage === 'requested'
    ? 'Requested'
    : stateText({
        confirmations: rest.confirmations,
        needed: rest.needed,
        missing: rest.missing,
        status: stage,
        reason: null,
      })
}

function PegOuts({ status: { pegOuts } }: { readonly status: Status }) {
  return (
    <Section title="Waiting peg-outs">
      <Table
        label="Waiting peg-outs"
        stacked
        columns={['Transaction', 'Receiver', { name: 'Amount', end: true }, 'Progress']}
        rows={pegOuts.map((each, index) => {
          const { transaction, bitcoinTransaction, receiver, satoshi } = each
          return {
            key: transaction ?? bitcoinTransaction ?? String(index),
            cells: [
              transaction === null ? (
                <BitcoinLink key="hash" hash={bitcoinTransaction ?? ''} />
              ) : (
                <TransactionLink key="hash" hash={transaction} />
              ),
              receiver ?? '',
              satoshi === null ? '' : bitcoins(satoshi),
              progressOf(each),
            ],
          }
        })}
      />
    </Section>
  )
}

function History({ status: { history } }: { readonly status: Status }) {
  return (
    <Section title="Last peg-ins and peg-outs">
      <Table
        label="Last peg-ins and peg-outs"
        stacked
        columns={[
          'Bitcoin transaction',
          'What',
          { name: 'Amount', end: true },
          'State',
          { name: 'Block', end: true },
        ]}
        rows={history.map((event) => ({
          key: `${event.bitcoinTransaction} ${event.transaction}`,
          cells: [
            <BitcoinLink key="hash" hash={event.bitcoinTransaction} />,
            meaningText(event.kind),
            event.satoshi === null ? '' : bitcoins(event.satoshi),
            stateText({ status: event.status, reason: event.reason }),
            <BlockLink key="block" block={event.block} />,
          ],
        }))}
      />
    </Section>
  )
}

const isOutcome = objectOf({ status: isText, reason: orNull(isText) })

function PegInForm({ loaded }: { readonly loaded: Loaded<Status> }) {
  const to = useText()
  const amount = useText('0.1')
  return (
    <ActionForm
      label="Peg in"
      button="Send"
      run={async () => {
        if (!isAddress(to.value)) throw new Error('Expected an address')
        const { status, reason } = await callFor(isOutcome, 'btc_pegIn', [to.value, satoshiOf(amount.value)])
        announce(reason === null ? `The peg-in is ${status}` : `The peg-in is ${status}: ${reason}`)
        loaded.reload()
      }}
    >
      <Field label="To" text={to} placeholder="0x…" />
      <Field label="Bitcoins" text={amount} />
    </ActionForm>
  )
}

function MineForm({ loaded }: { readonly loaded: Loaded<Status> }) {
  const blocks = useText('1')
  return (
    <ActionForm
      label="Mine Bitcoin blocks"
      button="Mine"
      run={async () => {
        if (!/^\d{1,4}$/.test(blocks.value)) throw new Error('Expected a number of blocks')
        await call('btc_mine', [Number(blocks.value)])
        announce(`${counted(Number(blocks.value), 'Bitcoin block')} mined`)
        loaded.reload()
      }}
    >
      <Field label="Blocks" text={blocks} />
    </ActionForm>
  )
}

/** The page. */
export function PegPage() {
  const loaded = useQuery('peg', (signal) => callFor(isStatus, 'btc_status', [], signal), 'live')
  return (
    <>
      <Heading title="Peg" />
      <Show loaded={loaded}>
        {(status) => (
          <>
            <Chains status={status} />
            <Limits status={status} />
            <PegIns status={status} />
            <PegOuts status={status} />
            <History status={status} />
            <Members title="Federation" federation={status.active} />
            {status.retiring !== null && <Members title="Retiring federation" federation={status.retiring} />}
            {status.proposed !== null && <Members title="Proposed federation" federation={status.proposed} />}
            {may('btc_pegIn') && (
              <Section title="Act">
                <PegInForm loaded={loaded} />
                <MineForm loaded={loaded} />
              </Section>
            )}
          </>
        )}
      </Show>
    </>
  )
}
