/** The search field of the page's head: it opens what the text names, or a list of what it may name. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../router.ts'
import { isField } from './form.tsx'

/** The field; Enter searches. `/` moves the focus to it. */
export function SearchBox() {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key !== '/' || isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <form
      aria-label="Search the chain"
      onSubmit={(event) => {
        event.preventDefault()
        const query = text.trim()
        if (query === '') return
        setText('')
        // The page that opens takes the focus.
        field.current?.blur()
        go('search', query)
      }}
    >
      <input
        type="search"
        ref={field}
        aria-label="Search"
        placeholder="Hash, height, address, name"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
    </form>
  )
}
