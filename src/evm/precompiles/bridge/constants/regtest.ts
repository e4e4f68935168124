/** The local network. devnet has no constants of its own in the reference node; here it has the same ones. */
import { TEST_VERSIONS } from '../../../../bitcoin/address.ts'
import { BRIDGE_SENDERS } from '../../../../chain/bridge-senders.ts'
import { type BridgeNetwork, FORMAT } from './network.ts'

export const REGTEST: BridgeNetwork = {
  chain: 'regtest',
  parent: { name: 'regtest', addresses: TEST_VERSIONS },
  senders: BRIDGE_SENDERS.regtest,
  genesisFederation: {
    keys: [
      '02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1',
      '0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124',
      '03c5946b3fbae03a654237da863c9ed534e0878657175b132b8ca630f245df04db',
    ],
    creationTime: Date.UTC(2016, 0, 1),
    format: FORMAT.witness,
  },
  emergencyKeys: [
    '029cecea902067992d52c38b28bf0bb2345bda9b21eca76b16a17c477a64e43301',
    '03284178e5fbcc63c54c3b38e3ef88adf2da6c526313650041b0ef955763634ebd',
    '03ab0e2cd7ed158687fc13b88019990860cdb72b1f5777b58513312550ea1584bc',
    '03b9fc46657cf72a1afa007ecf431de1cd27ff5cc8829fa625b66ca47b967e6b24',
  ],
  emergencyDelay: 500,
  oldFederationAddress: '2N7ZgQyhFKm17RbaLqygYbS7KLrQfapyZzu',
  activationAge: (isActive) => (isActive('rskip383') ? 150 : 10),
  migrationBegin: 15,
  migrationEnd: () => 150,
  validationPeriod: 125,
  peginConfirmations: 3,
  pegoutConfirmations: 3,
  minimumPegout: 250_000n,
  earlyMinimumPegout: 500_000n,
  pegoutGapPercent: 20n,
  maxMigrationInputs: 10,
  blocksBetweenPegouts: 50,
  feePerKb: 100_000n,
  lockingCap: 100_000_000_000n,
  heightIndexStart: 10,
  searchDepth: 5,
  pegoutIndexHeight: 350,
  tooMuchWorkHeight: Number.POSITIVE_INFINITY,
}
