/** Methods that sign with a key of the node, without sending (docs/internals/rpc-reference.md#75-sending, EIP-191, EIP-712). */
import { personalMessageHash, signHash } from '../../../chain/message-signature.ts'
import { loadTypedDataSigner } from '../../../chain/typed-data.ts'
import { toHex } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { method } from '../../method.ts'
import { sendRequest, signingKey } from '../../signing.ts'
import { CallObject } from '../../wire/call.ts'
import { Address, Data, DataText } from '../../wire/scalars.ts'
import { TypedDataObject } from '../../wire/typed-data.ts'
import { COW, COW1 } from '../example-accounts.ts'

export const eth_sign = method({
  name: 'eth_sign',
  answeredBy: 'leader',
  needsWallet: true,
  summary: 'Signs a message with an unlocked account as a personal message (EIP-191): r, s and v (27 or 28).',
  params: { address: Address, message: Data },
  result: () => DataText,
  examples: [
    {
      params: [COW, '0xdeadbeef'],
      result:
        '0x7a962b63cef41a9cc1d3a6805da9f982a2a562b2d7a1ee75c78e5cd4464db9bf6e2b425bae2ce2c74a47631a2ec67c7efcc3dade1201fd5306443b85ec6116071b',
    },
  ],
  run({ address, message }, { engine }) {
    return toHex(signHash(personalMessageHash(message), signingKey(engine, address)))
  },
})

export const eth_signTransaction = method({
  name: 'eth_signTransaction',
  answeredBy: 'leader',
  needsWallet: true,
  summary:
    'Signs a transaction with an unlocked account and returns its bytes, ready for eth_sendRawTransaction.',
  params: { transaction: CallObject },
  result: () => DataText,
  examples: [
    {
      params: [{ from: COW, to: COW1, value: '0x1', gas: '0x5208', gasPrice: '0x1' }],
      result:
        '0xf85f8001825208947986b3df570230288501eea3d890bd66948c9b79018065a0ed009c50edd6adf86011e28200b5a16eb58f9515c71727eb6500df52ea93f01ba05ef1c506a89b2d519fae419b795524db87c71f6e68a34c52f27cd944e0173cc6',
    },
  ],
  async run({ transaction }, { engine }) {
    const request = sendRequest(transaction, engine)
    // An impersonated account has no key to sign with.
    if (engine.accounts.key(request.from) === undefined) {
      throw invalidParams(`Could not find account for address: ${request.from}`)
    }
    return toHex((await engine.commands.sign(request)).raw)
  },
})

export const eth_signTypedData_v4 = method({
  name: 'eth_signTypedData_v4',
  answeredBy: 'leader',
  needsWallet: true,
  aliases: ['eth_signTypedData', 'eth_signTypedData_v3'],
  summary: 'Signs typed data (EIP-712) with an unlocked account: r, s and v (27 or 28).',
  params: { address: Address, typedData: TypedDataObject },
  result: () => DataText,
  examples: [
    {
      params: [
        COW,
        {
          types: {
            EIP712Domain: [
              { name: 'name', type: 'string' },
              { name: 'chainId', type: 'uint256' },
            ],
            Mail: [
              { name: 'to', type: 'address' },
              { name: 'contents', type: 'string' },
            ],
          },
          primaryType: 'Mail',
          domain: { name: 'Mail', chainId: 33 },
          message: { to: COW1, contents: 'Hello' },
        },
      ],
      result:
        '0xce143c2819cdf5ef6ed2779dc7a742660301fd2fd112018f7a353d5c0d83cce7681b94f29548fe663d9d06dff204d807054dc8b34cb69f86d152c918b18518041b',
    },
  ],
  async run({ address, typedData }, { engine }) {
    const signTypedData = await loadTypedDataSigner()
    return signTypedData(typedData, signingKey(engine, address))
  },
})

/** The methods of this file, in the order of the document. */
export const SIGN_METHODS = [eth_sign, eth_signTransaction, eth_signTypedData_v4] as const
