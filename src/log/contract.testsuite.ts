import { afterEach, beforeEach, describe } from 'vitest';
import { testAppends, testSharing } from './contract-appends.testsuite.ts';
import { testLeasesAndTime } from './contract-leases.testsuite.ts';
import { testArchive, testLookUps } from './contract-look-ups.testsuite.ts';
import { testSnapshots } from './contract-snapshots.testsuite.ts';
import type { Given, StoreUnderTest } from './contract-store.testsuite.ts';

/** What every FactLog does, whatever is beneath it. */
export function describeFactLog(name: string, setUp: () => Promise<StoreUnderTest>): void {
  describe(`the log in ${name}`, () => {
    let store: StoreUnderTest;
    beforeEach(async () => {
      store = await setUp();
    });
    afterEach(() => store.dispose());
    const given: Given = { store: () => store };
    describe('appends', () => testAppends(given));
    describe('shared by several', () => testSharing(given));
    describe('answers and blobs', () => testLookUps(given));
    describe('archive', () => testArchive(given));
    describe('leases and time', () => testLeasesAndTime(given));
    describe('snapshots', () => testSnapshots(given));
  });
}
