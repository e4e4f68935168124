/** The frame around the pages: navigation, search, state of the connection, live region. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, poolName } from './client.ts'
import { ActionButton, ErrorText } from './components/action.tsx'
import { isField } from './components/form.tsx'
import { Heading } from './components/layout.tsx'
import { SearchBox } from './components/search-box.tsx'
import { grouped, toNumber } from './format.ts'
import { loadAllPages, loadedPage, loadPage, PAGES, type PageComponent } from './pages.tsx'
import { linkTo, route } from './router.ts'
import { announcement, connection, head, identity, may } from './store.ts'
import { nextTheme, theme } from './theme.ts'

function Navigation() {
  const { page } = route.value
  return (
    <nav aria-label="Pages">
      {Object.entries(PAGES).map(
        ([name, { link, isOpen }]) =>
          link !== undefined &&
          isOpen?.() !== false && (
            <a key={name} href={linkTo(name)} aria-current={page === name ? 'page' : undefined}>
              {link}
            </a>
          ),
      )}
    </nav>
  )
}

function State() {
  const state = connection.value
  const height = head.value === undefined ? undefined : toNumber(head.value.number)
  const title = state === 'open' ? 'Connected' : state === 'lost' ? 'Connection lost' : 'Connecting'
  return (
    <span class="state" data-state={state} title={title}>
      {height === undefined ? '…' : `#${grouped(height)}`}
    </span>
  )
}

const THEME_SIGNS = { auto: '◐', light: '☀', dark: '☾' } as const

function Top() {
  return (
    <header class="top">
      <a class="brand" href={linkTo('')} title="Overview">
        <span class="logo" aria-hidden="true" />
        Tandem
      </a>
      <Navigation />
      <div class="tools">
        <SearchBox />
        <State />
        {may('evm_mine') && <ActionButton label="Mine" run={() => call('evm_mine')} />}
        <button
          type="button"
          class="plain"
          onClick={nextTheme}
          aria-label={`Theme: ${theme.value}`}
          title={`Theme: ${theme.value}`}
        >
          <span aria-hidden="true">{THEME_SIGNS[theme.value]}</span>
        </button>
      </div>
    </header>
  )
}

function NotFound() {
  return (
    <>
      <Heading title="No such page" />
      <p>
        <a href={linkTo('')}>Go to the overview</a>
      </p>
    </>
  )
}

/** Milliseconds after the first page before the scripts of the others are loaded. */
const OTHERS_AFTER_MS = 1000

/** The component of a page, `undefined` while its script is loaded, and whether the node did not send it. */
function usePage(name: string): { readonly Page: PageComponent | undefined; readonly hasFailed: boolean } {
  const [failed, setFailed] = useState<string>()
  const [, setLoaded] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    loadPage(name).then(
      () => {
        if (isCurrent) setLoaded(name)
      },
      () => {
        if (isCurrent) setFailed(name)
      },
    )
    return () => {
      isCurrent = false
    }
  }, [name])
  useEffect(() => {
    const timer = setTimeout(() => void loadAllPages(), OTHERS_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return { Page: Object.hasOwn(PAGES, name) ? loadedPage(name) : NotFound, hasFailed: failed === name }
}

function Unsent() {
  return (
    <p>
      <ErrorText message="The node did not send this page" />{' '}
      <button type="button" class="plain" onClick={() => location.reload()}>
        Load again
      </button>
    </p>
  )
}

/** The explorer. */
export function App() {
  const { page, argument } = route.value
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) {
      scrollTo(0, 0)
      // A page can open some time after the search for it, when the user types the next one.
      // Steps through the chain go on from the same button.
      const active = document.activeElement
      const isStep = active instanceof Element && active.closest('.moment') !== null
      if (!isField(active) && !isStep) main.current?.focus({ preventScroll: true })
    }
    isFirst.current = false
  }, [page, argument])
  const { Page, hasFailed } = usePage(page)
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Top />
      <p role="status" class="status" data-lost={connection.value === 'lost'}>
        {announcement.value}
      </p>
      <main id="main" ref={main} tabIndex={-1} key={page}>
        {Page !== undefined ? (
          <Page argument={argument} />
        ) : hasFailed ? (
          <Unsent />
        ) : (
          <p class="dim">Loading…</p>
        )}
      </main>
      <footer>
        {identity.value !== undefined && (
          <span>
            Chain {identity.value.chainId}
            {poolName !== undefined && ` (${poolName} of a pool)`} · {identity.value.version}
            {identity.value.fork !== undefined && ` · ${identity.value.fork}`}
          </span>
        )}
      </footer>
    </>
  )
}
