/** `#/bitcoin/<hash>`: a transaction of the Bitcoin chain, and what it is to the peg. */

import {
  type BitcoinTransaction,
  bitcoins,
  isBitcoinTransaction,
  kindText,
  type Meaning,
  meaningText,
  type Party,
  stateText,
} from '../bitcoin.ts'
import { orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { Fields, Heading, Section, Show, Table } from '../components/layout.tsx'
import { AddressLink, BitcoinLink, Bytes, DateAndAge, Mono, TransactionLink } from '../components/values.tsx'
import { counted, grouped } from '../format.ts'
import { useQuery } from '../query.ts'

const OWNERS = {
  active: 'the federation',
  retiring: 'the retiring federation',
  proposed: 'the proposed federation',
} as const

/** An address with its owner; the kind of the script where it has none. */
function PartyText({ party: { kind, address, federation } }: { readonly party: Party }) {
  return (
    <>
      {address !== null && <Mono wrap>{address}</Mono>} {federation !== null && `${OWNERS[federation]}, `}
      <span class="dim">{kindText(kind)}</span>
    </>
  )
}

function PegSection({ peg }: { readonly peg: Meaning }) {
  const { transaction, requests, satoshi, kind, status } = peg
  const what = kind === 'pegIn' ? 'Processed by' : 'Made by'
  return (
    <Section title="Peg">
      <Fields
        rows={[
          ['What it is', meaningText(kind)],
          ['State', stateText(peg)],
          ['Amount', status !== 'lost' && bitcoins(satoshi)],
          [what, transaction !== null && <TransactionLink hash={transaction} full />],
          [
            'Asked for by',
            requests.length > 0 &&
              requests.map((hash) => (
                <div key={hash}>
                  <TransactionLink hash={hash} full />
                </div>
              )),
          ],
        ]}
      />
    </Section>
  )
}

function Overview({ found }: { readonly found: BitcoinTransaction }) {
  const { bitcoinTransaction, block, confirmations, fee, isCoinbase, virtualSize } = found
  const where = confirmations === null ? 'Not sent' : 'In the mempool'
  return (
    <Section title="Overview">
      <Fields
        rows={[
          ['Hash', <Mono wrap>{bitcoinTransaction}</Mono>],
          ['Block', block === null ? where : grouped(block.height)],
          ['Block hash', block !== null && <Mono wrap>{block.hash}</Mono>],
          ['Time', block !== null && <DateAndAge seconds={block.timestamp} />],
          ['Confirmations', confirmations !== null && grouped(confirmations)],
          ['Kind', isCoinbase && 'Coinbase: the reward of its block'],
          ['Fee', fee !== null && `${bitcoins(fee)}, ${(fee / virtualSize).toFixed(1)} satoshi for a byte`],
          ['Size', `${counted(found.size, 'byte')}, ${grouped(virtualSize)} virtual`],
          ['Version', found.version],
          ['Lock time', found.lockTime > 0 && grouped(found.lockTime)],
        ]}
      />
    </Section>
  )
}

type Input = BitcoinTransaction['inputs'][number]

function revealsText({ reveals }: Input): string {
  if (reveals === null) return ''
  const { required, keys, hasEmergency } = reveals
  return `signatures of ${required} of ${keys} keys${hasEmergency ? ', or of emergency keys' : ''}`
}

function Inputs({ inputs }: { readonly inputs: BitcoinTransaction['inputs'] }) {
  return (
    <Section title="Inputs">
      <Table
        label="Inputs"
        stacked
        columns={['Spends', 'From', 'Script', { name: 'Amount', end: true }]}
        rows={inputs.map((input, i) => ({
          key: i,
          cells: [
            input.bitcoinTransaction === null ? (
              'New coins'
            ) : (
              <span key="spends">
                <BitcoinLink hash={input.bitcoinTransaction} /> output {input.index}
              </span>
            ),
            input.coin === null ? '' : <PartyText key="from" party={input.coin} />,
            revealsText(input),
            input.coin === null ? '' : bitcoins(input.coin.satoshi),
          ],
        }))}
      />
    </Section>
  )
}

function Outputs({ outputs }: { readonly outputs: BitcoinTransaction['outputs'] }) {
  return (
    <Section title="Outputs">
      <Table
        label="Outputs"
        stacked
        columns={['#', 'To', 'Data', { name: 'Amount', end: true }]}
        rows={outputs.map((output, i) => ({
          key: i,
          cells: [
            i,
            <PartyText key="to" party={output} />,
            output.address !== null ? (
              ''
            ) : output.receiver === null ? (
              <Bytes key="script" hex={output.script} label={`Script of output ${i}`} />
            ) : (
              <span key="receiver">
                peg-in for <AddressLink address={output.receiver} />
              </span>
            ),
            bitcoins(output.satoshi),
          ],
        }))}
      />
    </Section>
  )
}

/** The page. */
export function BitcoinPage({ argument }: { readonly argument: string }) {
  const loaded = useQuery(
    `bitcoin ${argument}`,
    (signal) => callFor(orNull(isBitcoinTransaction), 'btc_transaction', [argument], signal),
    'live',
  )
  return (
    <>
      <Heading title="Bitcoin transaction" />
      <Show loaded={loaded}>
        {(found) =>
          found === null ? (
            <p class="dim">Neither Bitcoin nor the Bridge has a transaction with this hash</p>
          ) : (
            <>
              <Overview found={found} />
              {found.peg !== null && <PegSection peg={found.peg} />}
              <Inputs inputs={found.inputs} />
              <Outputs outputs={found.outputs} />
            </>
          )
        }
      </Show>
    </>
  )
}
