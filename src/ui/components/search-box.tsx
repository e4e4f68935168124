/** The search field of the page's head: it opens what the text names, or a list of what it may name. */
import { useState } from 'preact/hooks'
import { go } from '../router.ts'

/** The field; Enter searches. `/` moves the focus to it. */
export function SearchBox() {
  const [text, setText] = useState('')
  return (
    <form
      aria-label="Search the chain"
      onSubmit={(event) => {
        event.preventDefault()
        const query = text.trim()
        if (query === '') return
        setText('')
        go('search', query)
      }}
    >
      <input
        type="search"
        aria-label="Search"
        placeholder="Hash, address, height or name"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
    </form>
  )
}
