/** What typed transactions have beside the others: type, fees, access list, authorizations. */
import { grouped, toBigInt, toNumber } from '../format.ts'
import type { Transaction } from '../model.ts'
import { type FieldRow, Section, Table } from './layout.tsx'
import { AddressLink, Mono } from './values.tsx'

/** The standards of the types; that of any other is not known. */
const NAMES: Readonly<Record<string, string>> = {
  '0x1': 'access list, EIP-2930',
  '0x2': 'fee market, EIP-1559',
  '0x3': 'blobs, EIP-4844',
  '0x4': 'set code, EIP-7702',
}

/** Type and fees; none for a legacy transaction. */
export function typedRows({ type, maxFeePerGas, maxPriorityFeePerGas }: Transaction): readonly FieldRow[] {
  if (type === '0x0') return []
  const name = NAMES[type] === undefined ? '' : ` (${NAMES[type]})`
  return [
    ['Type', `${type}${name}`],
    ['Maximum fee', maxFeePerGas && `${grouped(toBigInt(maxFeePerGas))} wei`],
    ['Priority fee', maxPriorityFeePerGas && `${grouped(toBigInt(maxPriorityFeePerGas))} wei`],
  ]
}

function AccessList({ list }: { readonly list: NonNullable<Transaction['accessList']> }) {
  return (
    <Section title="Access list">
      <Table
        label="Access list"
        columns={['Account', 'Slots']}
        rows={list.map(({ address, storageKeys }, i) => ({
          key: i,
          cells: [
            <AddressLink key="address" address={address} full />,
            storageKeys.map((slot) => (
              <div key={slot}>
                <Mono>{slot}</Mono>
              </div>
            )),
          ],
        }))}
      />
    </Section>
  )
}

function Authorizations({ list }: { readonly list: NonNullable<Transaction['authorizationList']> }) {
  return (
    <Section title="Authorizations">
      <Table
        label="Authorizations"
        columns={['Code of', { name: 'Chain', end: true }, { name: 'Nonce', end: true }]}
        rows={list.map(({ address, chainId, nonce }, i) => ({
          key: i,
          cells: [
            <AddressLink key="address" address={address} full />,
            toNumber(chainId) === 0 ? 'any' : grouped(toNumber(chainId)),
            grouped(toNumber(nonce)),
          ],
        }))}
      />
    </Section>
  )
}

/** Access list and authorizations, where there are any. */
export function TypedLists({
  transaction: { accessList = [], authorizationList = [] },
}: {
  readonly transaction: Transaction
}) {
  return (
    <>
      {accessList.length > 0 && <AccessList list={accessList} />}
      {authorizationList.length > 0 && <Authorizations list={authorizationList} />}
    </>
  )
}
