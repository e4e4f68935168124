/** The search field of the page's head, with suggestions: it opens what the text names, or a list of what it may name. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { shortened } from '../format.ts'
import { useKeys } from '../keys.ts'
import { go } from '../router.ts'
import { type Match, type Place, search } from '../search.ts'
import { openMethods } from '../store.ts'

/** Milliseconds that the text must rest before suggestions are asked for. */
const REST_MS = 150
const MOST_SUGGESTIONS = 8
const LIST = 'suggestions'

/** Something that a text may name. */
interface Suggestion extends Place {
  readonly name: string
  readonly what: string
}

const PLACES: Readonly<Record<string, string>> = { block: 'Block', tx: 'Transaction', address: 'Address' }

function ofPlace({ page, argument }: Place): Suggestion {
  return { page, argument, name: shortened(argument), what: PLACES[page] ?? page }
}

function ofMatch({ page, argument, name, kind, contract }: Match): Suggestion[] {
  if (page === undefined || argument === undefined) return []
  const where = kind === 'function' || kind === 'event' || kind === 'error' ? ` of ${contract}` : ''
  return [{ page, argument, name, what: `${kind}${where}` }]
}

async function suggestionsFor(text: string, signal: AbortSignal): Promise<readonly Suggestion[]> {
  const { place, matches } = await search(text, signal, { mayBeKept: true })
  return [...(place === undefined ? [] : [ofPlace(place)]), ...matches.flatMap(ofMatch)].slice(
    0,
    MOST_SUGGESTIONS,
  )
}

/** The suggestions for a text, once it rests; none while they are loaded, and where the node refuses. */
function useSuggestions(text: string): readonly Suggestion[] {
  const [found, setFound] = useState<{ text: string; list: readonly Suggestion[] }>({ text: '', list: [] })
  const query = text.trim()
  const isReady = openMethods.value !== undefined
  useEffect(() => {
    if (query === '' || !isReady) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      suggestionsFor(query, controller.signal).then(
        (list) => {
          if (!controller.signal.aborted) setFound({ text: query, list })
        },
        () => {},
      )
    }, REST_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [query, isReady])
  return found.text === query ? found.list : []
}

/** Moves the focus to the field with `/`. */
function useShortcut(focus: () => void): void {
  useKeys((event) => {
    if (event.key !== '/') return
    event.preventDefault()
    focus()
  })
}

function Options({
  list,
  active,
  onPick,
}: {
  readonly list: readonly Suggestion[]
  readonly active: number
  readonly onPick: (suggestion: Suggestion) => void
}) {
  return (
    <div role="listbox" id={LIST} aria-label="Suggestions" class="suggestions">
      {list.map((each, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
        // biome-ignore lint/a11y/useFocusableInteractive: the field names the active option
        <div
          key={`${each.page} ${each.argument} ${each.name}`}
          role="option"
          id={`${LIST}-${i}`}
          aria-selected={i === active}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(each)}
        >
          <span class="name">{each.name}</span> <span class="dim">{each.what}</span>
        </div>
      ))}
    </div>
  )
}

/** The field; Enter searches, or opens the suggestion that the arrow keys chose. `/` moves the focus to it. */
export function SearchBox() {
  const [text, setText] = useState('')
  const [active, setActive] = useState(-1)
  const [isClosed, setIsClosed] = useState(true)
  const field = useRef<HTMLInputElement>(null)
  const suggestions = useSuggestions(text)
  const list = isClosed ? [] : suggestions
  useShortcut(() => field.current?.focus())
  function open(page: string, argument: string): void {
    setText('')
    setIsClosed(true)
    // The page that opens takes the focus.
    field.current?.blur()
    go(page, argument)
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape' && list.length > 0) {
      event.preventDefault()
      setIsClosed(true)
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || list.length === 0) return
    event.preventDefault()
    // Above the first one is the text itself.
    setActive((before) => ((before + 1 + step + list.length + 1) % (list.length + 1)) - 1)
  }
  return (
    <form
      aria-label="Search the chain"
      class="search"
      onSubmit={(event) => {
        event.preventDefault()
        const chosen = list[active]
        const query = text.trim()
        if (chosen !== undefined) open(chosen.page, chosen.argument)
        else if (query !== '') open('search', query)
      }}
    >
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: it is that of a field with a list, which this one has elsewhere
        role="combobox"
        list={undefined}
        ref={field}
        aria-label="Search"
        aria-autocomplete="list"
        aria-expanded={list.length > 0}
        aria-controls={LIST}
        aria-activedescendant={list[active] === undefined ? undefined : `${LIST}-${active}`}
        placeholder="Hash, height, address, name"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setActive(-1)
          setIsClosed(false)
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setIsClosed(true)}
        autocomplete="off"
        spellcheck={false}
      />
      {list.length > 0 && (
        <Options list={list} active={active} onPick={({ page, argument }) => open(page, argument)} />
      )}
    </form>
  )
}
