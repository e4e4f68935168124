/** `#/search/<text>`: goes to what the text names, or lists the contracts and functions of that name. */
import { useEffect } from 'preact/hooks'
import { Heading, Section, Show, Table } from '../components/layout.tsx'
import { useQuery } from '../query.ts'
import { linkTo, replaceWith } from '../router.ts'
import { findNames, findPlace, type NameMatch } from '../search.ts'
import { openMethods } from '../store.ts'

async function search(text: string, signal: AbortSignal) {
  const place = await findPlace(text, signal)
  return { place, names: place === undefined ? await findNames(text, signal) : [] }
}

function Names({ names, text }: { readonly names: readonly NameMatch[]; readonly text: string }) {
  return (
    <Section title="Names">
      <Table
        label="Names"
        empty={`Nothing is known by the name or hash “${text}”`}
        columns={['Name', 'What', 'Contract', { name: 'Address', wide: true }]}
        rows={names.map(({ name, kind, contract, page, argument }, i) => ({
          key: i,
          cells: [
            <a key="link" href={linkTo(page, argument)}>
              {name}
            </a>,
            kind,
            contract,
            <span key="address" class="mono dim">
              {argument}
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
  const only = found.value?.names.length === 1 ? found.value.names[0] : undefined
  useEffect(() => {
    const target = place ?? only
    if (target !== undefined) replaceWith(target.page, target.argument)
  }, [place, only])
  return (
    <>
      <Heading title={`Search: ${argument}`} />
      <Show loaded={found}>
        {({ names }) => (place === undefined ? <Names names={names} text={argument} /> : null)}
      </Show>
    </>
  )
}
