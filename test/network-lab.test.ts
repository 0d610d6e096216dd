import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LabHost, type NetworkLab, openNetworkLab, whyNoNetworkLab } from './network-lab.ts';

const whyNot = whyNoNetworkLab();

/** What a lab's cuts do to a connection, or every test that uses one proves nothing. */
describe.skipIf(whyNot !== null)(`the network lab${whyNot === null ? '' : ` (skipped: ${whyNot})`}`, () => {
  let lab: NetworkLab;
  let hosts: readonly [LabHost, LabHost];

  beforeAll(() => {
    lab = openNetworkLab();
    hosts = [lab.addHost('one'), lab.addHost('two')];
  });

  afterAll(() => lab.close());

  it('lets two hosts talk, and not once they are cut off from each other', async () => {
    const [one, two] = hosts;
    expect(await reaches(one, two)).toBe(true);
    lab.cut(one, two);
    expect(await reaches(one, two)).toBe(false);
    expect(await reaches(two, one)).toBe(false);
    lab.heal(one);
    expect(await reaches(one, two)).toBe(true);
    expect(await reaches(two, one)).toBe(true);
  });

  it('cuts one direction alone', async () => {
    const [one, two] = hosts;
    lab.cutOneWay(one, two);
    expect(await hears(two, one)).toBe(false);
    expect(await hears(one, two)).toBe(true);
    lab.heal(two);
    expect(await hears(two, one)).toBe(true);
  });

  it('gives each host loopback ports of its own', async () => {
    const [one, two] = hosts;
    const server = one.program([process.execPath, '-e', listening]);
    await server.printed(/listening/);
    const other = two.program([process.execPath, '-e', listening]);
    await other.printed(/listening/);
    for (const running of [server, other]) running.child.kill('SIGKILL');
  });
});

const listening = "require('net').createServer().listen(20001, '127.0.0.1', () => console.log('listening'))";

/** Whether a connection can be opened, for which both directions must work. */
async function reaches(from: LabHost, to: LabHost): Promise<boolean> {
  const server = to.program([
    process.execPath,
    '-e',
    "require('net').createServer((s) => s.end('hello')).listen(20002, () => console.log('listening'))",
  ]);
  await server.printed(/listening/);
  const client = from.program([
    process.execPath,
    '-e',
    `const s = require('net').connect({ host: '${to.address}', port: 20002, timeout: 700 });
     s.on('data', () => process.exit(0)); s.on('error', () => process.exit(1)); s.on('timeout', () => process.exit(1));`,
  ]);
  const { code } = await client.finished;
  server.child.kill('SIGKILL');
  await server.finished;
  return code === 0;
}

/** Whether a datagram arrives, for which one direction is enough. */
async function hears(listener: LabHost, sender: LabHost): Promise<boolean> {
  const receiving = listener.program([
    process.execPath,
    '-e',
    `const s = require('dgram').createSocket('udp4'); s.on('message', () => process.exit(0));
     s.bind(20003, () => console.log('listening')); setTimeout(() => process.exit(1), 700);`,
  ]);
  await receiving.printed(/listening/);
  const sending = sender.program([
    process.execPath,
    '-e',
    `const s = require('dgram').createSocket('udp4');
     let sent = 0; const again = () => s.send('x', 20003, '${listener.address}', () => (++sent < 5 ? setTimeout(again, 50) : s.close()));
     again();`,
  ]);
  await sending.finished;
  return (await receiving.finished).code === 0;
}
