/** A mail server on a real socket that does what a test tells it: enough of RFC 5321 to be spoken to, and ways to fail. */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket, createSecureContext } from 'node:tls';

export interface Letter {
  readonly to: readonly string[];
  readonly data: string;
  readonly encrypted: boolean;
  /** The user named at login, if there was one. */
  readonly user: string | undefined;
}

export interface Manner {
  /** What it answers to these commands instead of doing them; `CONNECT` is the greeting, `.` the end of a letter. */
  answers: Partial<Record<'CONNECT' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | '.', string>>;
  /** Addresses it does not know. */
  unknown: readonly string[];
  /** Says nothing any more from this command on. */
  silentFrom?: string | undefined;
  tls?: { readonly key: string; readonly cert: string } | undefined;
}

export async function mailServer() {
  const letters: Letter[] = [];
  const manner: Manner = { answers: {}, unknown: [] };
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    new Session(socket, manner, letters, commands).greet();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    letters,
    commands,
    manner,
    close: () =>
      new Promise<void>((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
  };
}

class Session {
  #socket: Socket;
  readonly #manner: Manner;
  readonly #letters: Letter[];
  readonly #commands: string[];
  #input = '';
  #data: string[] | undefined;
  #to: string[] = [];
  #encrypted = false;
  #user: string | undefined;
  #silent = false;

  constructor(socket: Socket, manner: Manner, letters: Letter[], commands: string[]) {
    this.#socket = socket;
    this.#manner = manner;
    this.#letters = letters;
    this.#commands = commands;
  }

  greet(): void {
    this.#listen();
    this.#do('CONNECT', '', () => this.#say('220 mail.example ESMTP'));
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
  }

  #say(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  #read(chunk: string): void {
    this.#input += chunk;
    for (let end = this.#input.indexOf('\r\n'); end >= 0; end = this.#input.indexOf('\r\n')) {
      const line = this.#input.slice(0, end);
      this.#input = this.#input.slice(end + 2);
      if (this.#data) this.#line(line);
      else this.#command(line);
    }
  }

  #line(line: string): void {
    if (line !== '.') {
      this.#data!.push(line.startsWith('.') ? line.slice(1) : line);
      return;
    }
    const data = this.#data!.join('\n');
    this.#data = undefined;
    this.#do('.', '', () => {
      this.#letters.push({ to: this.#to, data, encrypted: this.#encrypted, user: this.#user });
      this.#say('250 taken');
    });
    this.#to = [];
  }

  #do(name: string, line: string, work: () => void): void {
    this.#commands.push(line || name);
    this.#silent ||= this.#manner.silentFrom === name;
    if (this.#silent) return;
    const answer = this.#manner.answers[name as keyof Manner['answers']];
    if (answer === undefined) work();
    else this.#say(answer);
  }

  #command(line: string): void {
    const name = line.split(/[ :]/)[0]!.toUpperCase();
    this.#do(name, line, () => {
      if (name === 'EHLO') this.#hello();
      else if (name === 'STARTTLS') this.#encrypt();
      else if (name === 'AUTH') this.#login(line);
      else if (name === 'RCPT') this.#recipient(line);
      else if (name === 'DATA') {
        this.#data = [];
        this.#say('354 go on');
      } else if (name === 'QUIT') this.#socket.end('221 bye\r\n');
      else this.#say('250 ok');
    });
  }

  #hello(): void {
    const offers = ['mail.example', ...(this.#manner.tls && !this.#encrypted ? ['STARTTLS'] : []), 'AUTH PLAIN'];
    offers.forEach((offer, i) => this.#say(`250${i < offers.length - 1 ? '-' : ' '}${offer}`));
  }

  #encrypt(): void {
    const { tls } = this.#manner;
    if (!tls) return this.#say('502 not known here');
    this.#say('220 go ahead');
    this.#socket.removeAllListeners('data');
    const { key, cert } = tls;
    this.#socket = new TLSSocket(this.#socket, { isServer: true, secureContext: createSecureContext({ key, cert }) });
    this.#socket.on('error', () => {});
    this.#encrypted = true;
    return this.#listen();
  }

  #login(line: string): void {
    this.#user = Buffer.from(line.split(' ')[2] ?? '', 'base64')
      .toString()
      .split('\0')[1];
    this.#say('235 welcome');
  }

  #recipient(line: string): void {
    const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (this.#manner.unknown.includes(address)) return this.#say(`550 no ${address} here`);
    this.#to.push(address);
    return this.#say('250 ok');
  }
}
