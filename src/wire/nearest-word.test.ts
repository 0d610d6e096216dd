import { describe, expect, it } from 'vitest';
import { nearestWord } from './nearest-word.ts';

describe('the nearest word', () => {
  it('is the nearest and not the first that is near', () => {
    expect(nearestWord('cpu', ['gpus', 'gpuType', 'cpus'])).toBe('cpus');
    expect(nearestWord('Restrat', ['start', 'restart'])).toBe('restart');
  });

  it('is none where most of it would be another word', () => {
    expect(nearestWord('lst', ['use', 'rm', 'set'])).toBeUndefined();
    expect(nearestWord('a', ['rm'])).toBeUndefined();
    expect(nearestWord('x', [])).toBeUndefined();
  });
});
