/** How a message looks to each kind of receiver: one request, a letter, or a command. */
import { createHmac } from 'node:crypto';
import type { Deliver } from '../values/subscription.ts';
import type { Message } from './message.ts';

export interface Request {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Limits of the services; a longer message would be refused whole. */
const slackMax = 3_000;
const discordMax = 2_000;
const telegramMax = 4_096;
const ntfyMax = 4_000;

const clipped = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const json = { 'content-type': 'application/json' };
/** Header values are Latin-1 on the wire; anything else goes in encoded words. */
const headerText = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;

/**
 * The signature covers the time and the body, so that neither can be replaced and an old message cannot pass for a new
 * one: `t=SECONDS,v1=HEX` with HEX = HMAC-SHA-256(secret, "SECONDS.BODY").
 */
export function signature(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

function webhook(deliver: Deliver & { kind: 'webhook' }, message: Message, nowMs: number): Request {
  const { id, subscription, title, text, changes } = message;
  const body = JSON.stringify({ id, subscription, title, text, changes });
  return {
    method: 'POST',
    url: deliver.url,
    headers: {
      ...deliver.headers,
      ...json,
      'revisit-delivery': id,
      ...(deliver.secret === undefined ? {} : { 'revisit-signature': signature(deliver.secret, body, nowMs) }),
    },
    body,
  };
}

/** The request that carries the message; undefined for kinds that go another way. */
export function requestFor(deliver: Deliver, message: Message, nowMs: number): Request | undefined {
  const { title, text, id } = message;
  switch (deliver.kind) {
    case 'webhook':
      return webhook(deliver, message, nowMs);
    case 'ntfy': {
      const headers = {
        title: headerText(clipped(title, 250)),
        click: message.url,
        ...(deliver.priority === undefined ? {} : { priority: String(deliver.priority) }),
        ...(deliver.token === undefined ? {} : { authorization: `Bearer ${deliver.token}` }),
      };
      return { method: 'POST', url: deliver.url, headers, body: clipped(text, ntfyMax) };
    }
    case 'slack': {
      // Slack reads &, < and > as markup.
      const safe = `*${title}*\n${text}`.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
      return {
        method: 'POST',
        url: deliver.url,
        headers: json,
        body: JSON.stringify({ text: clipped(safe, slackMax) }),
      };
    }
    case 'discord': {
      const content = clipped(`**${title}**\n${text}`, discordMax);
      // Nobody is called by name because a page says so.
      return {
        method: 'POST',
        url: deliver.url,
        headers: json,
        body: JSON.stringify({ content, allowed_mentions: { parse: [] } }),
      };
    }
    case 'telegram': {
      const base = deliver.url ?? 'https://api.telegram.org';
      const body = JSON.stringify({ chat_id: deliver.chat, text: clipped(`${title}\n\n${text}`, telegramMax) });
      return { method: 'POST', url: `${base}/bot${deliver.token}/sendMessage`, headers: json, body };
    }
    case 'matrix': {
      // The id of the transaction makes the server drop what it already has.
      const url = `${deliver.url.replace(/\/$/, '')}/_matrix/client/v3/rooms/${encodeURIComponent(deliver.room)}/send/m.room.message/${id}`;
      const body = JSON.stringify({ msgtype: 'm.text', body: `${title}\n\n${text}` });
      return { method: 'PUT', url, headers: { ...json, authorization: `Bearer ${deliver.token}` }, body };
    }
    case 'email':
    case 'command':
      return undefined;
  }
}
