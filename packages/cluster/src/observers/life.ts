/**
 * Which process an observer's words are from, and after which others: the folder it lives in and the how manieth it is there. Only one
 * at a time holds a name in a folder, so whoever comes later in the same folder is there in place of one that is dead. Of one from
 * another folder nobody knows that: the one before may have lost its link and look on.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const form = /^([0-9a-f]{8})\.(\d{1,12})$/;

/** Begins the next life in this file; in a place of its own where that cannot be written. */
export function beginLife(file: string): string {
  const [, folder = randomBytes(4).toString('hex'), before = '0'] = form.exec(textOf(file).trim()) ?? [];
  const life = `${folder}.${Number(before) + 1}`;
  try {
    writeFileSync(file, `${life}\n`);
    return life;
  } catch {
    return `${randomBytes(4).toString('hex')}.1`;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Whether the one is there in place of the other, which is dead. */
export function succeeds(life: string | undefined, other: string | undefined): boolean {
  const [, folder, number] = form.exec(life ?? '') ?? [];
  const [, folderBefore, before] = form.exec(other ?? '') ?? [];
  return folder !== undefined && folder === folderBefore && Number(number) > Number(before);
}
