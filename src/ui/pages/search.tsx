/** `#/search/<text>`: goes to what the text names, or lists what fits it: functions of a selector, addresses, names. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Heading, Section, Show, Table } from '../components/layout.tsx'
import { useQuery } from '../query.ts'
import { linkTo, replaceWith } from '../router.ts'
import { type Found, type Match, type Subject, search } from '../search.ts'
import { openMethods } from '../store.ts'

const TITLES: Readonly<Record<Subject, string>> = {
  selector: 'Selector',
  address: 'Addresses',
  name: 'Names',
}

/** What the text is, where a reader may not know. */
const EXPLANATIONS: Partial<Readonly<Record<Subject, string>>> = {
  selector:
    'Four bytes are a selector: they begin the input of a call and name its function, or begin the data of a revert and name its error. Calls are not indexed by it.',
  address:
    'These digits begin an address: the accounts of this node and the contracts with a known ABI are searched.',
}

/** What was looked for, and not found. */
const nothingOf = (subject: Subject, text: string): string => {
  if (subject === 'selector')
    return `No function or error of a known ABI has the selector ${text}, and no known address begins with it`
  if (subject === 'address') return `No block has the height ${text}, and no known address has these digits`
  return `Nothing is known by the name or hash “${text}”`
}

/** A name, with a link to where it is if that is known. */
function linked({ name, page, argument }: Match): ComponentChildren {
  if (page === undefined || argument === undefined) return name
  return (
    <a key="link" href={linkTo(page, argument)}>
      {name}
    </a>
  )
}

function Matches({ found: { subject, matches }, text }: { readonly found: Found; readonly text: string }) {
  const explanation = EXPLANATIONS[subject]
  return (
    <Section title={TITLES[subject]}>
      {explanation !== undefined && <p class="dim">{explanation}</p>}
      <Table
        label={TITLES[subject]}
        empty={nothingOf(subject, text)}
        columns={['Name', 'What', 'Contract', { name: 'Address', wide: true }]}
        rows={matches.map((match, i) => ({
          key: i,
          cells: [
            linked(match),
            match.kind,
            match.page === undefined ? 'widespread; no known ABI has it' : match.contract,
            <span key="address" class="mono dim">
              {match.argument}
            </span>,
          ],
        }))}
      />
    </Section>
  )
}

/** The page. */
export function SearchPage({ argument }: { readonly argument: string }) {
  const isReady = openMethods.value !== undefined
  const found = useQuery(`search ${argument} ${isReady}`, (signal) => search(argument, signal))
  const place = found.value?.place
  // A selector may be of further contracts that the node does not know.
  const only = found.value?.subject !== 'selector' && isReady ? found.value?.matches : undefined
  const match = only?.length === 1 ? only[0] : undefined
  useEffect(() => {
    const { page, argument: target } = place ?? match ?? {}
    if (page !== undefined && target !== undefined) replaceWith(page, target)
  }, [place, match])
  return (
    <>
      <Heading title={`Search: ${argument}`} />
      <Show loaded={found}>
        {(value) => (value.place === undefined ? <Matches found={value} text={argument} /> : null)}
      </Show>
    </>
  )
}
