import * as z from 'zod';
import type { SettingsLayer } from '../../core/profile/settings.ts';
import { largestDocumentBytes } from '../document-guard.ts';
import type { Submission } from '../submission.ts';
import { jobSpec, partialSettings, workspaceRef } from './settings.ts';

/** What is submitted and applied over HTTP: a document as a file has it, or one that a client has read already. */

/** A submission that was read already holds its document, of 1 MiB at most, beside what was read from it. */
export const mostSubmissionBytes = 4 * 1024 * 1024;

const text = z.string();
const table = z.record(text, z.unknown());
const profile = z.union([text, table]);

/** As large as a file may be. */
const document = z
  .unknown()
  .refine((value) => JSON.stringify(value ?? null).length <= largestDocumentBytes, 'a document of at most 1 MiB');

const layer = z.strictObject({ origin: text, values: partialSettings }) satisfies z.ZodType<SettingsLayer>;

/** Read and checked by the client, so that every value keeps the place where it was written. */
export const prepared = z.strictObject({
  spec: jobSpec,
  source: document,
  profile: text.nullable(),
  layers: z.array(layer).max(200),
}) satisfies z.ZodType<Submission>;

const jobDocument = z.strictObject({ job: table, profile: z.exactOptional(profile) });
const serviceDocument = z.strictObject({ service: table, profile: z.exactOptional(profile) });

export const submissionBody = z.strictObject({
  submission: z.union([prepared, jobDocument]),
  /** The workspace, pushed before. */
  workspace: z.exactOptional(workspaceRef),
  /** The workspace of this earlier job instead, byte for byte. */
  workspaceOf: z.exactOptional(text),
  project: z.exactOptional(text),
  retryOf: z.exactOptional(text),
  indices: z.exactOptional(z.array(z.int().min(0)).max(1_000_000)),
});

export const applyBody = z.strictObject({
  service: z.union([prepared, serviceDocument]),
  workspace: z.exactOptional(workspaceRef),
  project: z.exactOptional(text),
});

export const previewBody = z.strictObject({
  submission: z.union([prepared, jobDocument]),
  project: z.exactOptional(text),
});
