/** The choice of the account that forms send from: one of the node's, or any other, which is impersonated. */
import { useState } from 'preact/hooks'
import { impersonated, impersonation, sender, useAccounts } from '../accounts.ts'
import { shortened } from '../format.ts'

const OTHER = 'other'

/** The choice; it holds for all forms of all pages. */
export function SenderChoice() {
  const accounts = useAccounts().value ?? []
  const known = [...accounts, ...impersonated.value.filter((address) => !accounts.includes(address))]
  const [isOther, setIsOther] = useState(false)
  const isTyped = isOther || (sender.value !== '' && !known.some((address) => address === sender.value))
  return (
    <span class="sender">
      <label class="field">
        <span>From</span>
        <select
          value={isTyped ? OTHER : sender.value}
          onChange={(event) => {
            const { value } = event.currentTarget
            setIsOther(value === OTHER)
            sender.value = value === OTHER ? '' : value
          }}
        >
          {known.map((address, i) => (
            <option key={address} value={i === 0 ? '' : address}>
              {i < accounts.length ? `${i + 1}: ` : ''}
              {shortened(address)}
              {i < accounts.length ? '' : ' (impersonated)'}
            </option>
          ))}
          {known.length === 0 && <option value="">none</option>}
          {impersonation() !== undefined && <option value={OTHER}>another address…</option>}
        </select>
      </label>
      {isTyped && (
        <label class="field grows">
          <span>Address to impersonate</span>
          <input
            type="text"
            value={sender.value}
            placeholder="0x…"
            onInput={(event) => {
              sender.value = event.currentTarget.value.trim()
            }}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
      )}
    </span>
  )
}
