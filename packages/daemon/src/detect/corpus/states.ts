/** Answers that are no copy of the page: said as such, once, never as a change. */
import { change, css, first, looks, nothing, page, prose, text, trouble, type Case } from './case.ts';

const login = page(
  '<h1>Sign in</h1><form action="/login"><input name="user"><input type="password" name="p"><button>Sign in</button></form>',
  '<title>Sign in</title>',
);
const wall = page(
  '<h1>Checking your browser</h1><p>Enable JavaScript and cookies to continue</p>',
  '<title>Just a moment...</title>',
);
const terms = page(`<h1>Terms</h1><div id="terms">${prose(10)}</div>`);

export const states: readonly Case[] = [
  {
    name: 'selector matches nothing any more, said once, and back',
    select: css('#terms'),
    looks: looks(
      [terms, first],
      [page('<h1>Terms</h1><p>We moved things.</p>'), trouble('selector-nothing')],
      [page('<h1>Terms</h1><p>We moved things again.</p>'), trouble('selector-nothing', true)],
      [terms, nothing],
      [page('<h1>Terms</h1><p>We moved things.</p>'), trouble('selector-nothing')],
    ),
  },
  {
    name: 'selector matched nothing from the start',
    select: css('.missing'),
    looks: looks(
      [terms, trouble('selector-nothing')],
      [terms, trouble('selector-nothing', true)],
      [page('<p class="missing">Here</p>'), first],
    ),
  },
  {
    name: 'CSS selector is not valid',
    select: css('p['),
    looks: looks([terms, trouble('selector-invalid')], [terms, trouble('selector-invalid', true)]),
  },
  {
    name: 'XPath is not valid',
    select: { kind: 'xpath', expression: '//p[' },
    looks: looks([terms, trouble('selector-invalid')]),
  },
  {
    name: 'regular expression is not valid',
    select: { kind: 'regexp', expression: '(a' },
    looks: looks([terms, trouble('selector-invalid')]),
  },
  {
    name: 'JSONPath and jq are not valid',
    select: { kind: 'jq', expression: '.a[' },
    looks: [{ body: '{"a":1}', mediaType: 'application/json', expect: trouble('selector-invalid') }],
  },
  {
    name: 'JSONPath is not valid',
    select: { kind: 'jsonpath', expression: '$.a[' },
    looks: [{ body: '{"a":1}', mediaType: 'application/json', expect: trouble('selector-invalid') }],
  },
  {
    name: 'option is wrong',
    select: text,
    options: { tell: { percentMin: 'many' } },
    looks: looks([terms, trouble('options-wrong')]),
  },
  {
    name: 'page empty, then blank, then back',
    select: text,
    looks: looks([terms, first], ['', trouble('page-empty')], ['   \n', trouble('page-empty', true)], [terms, nothing]),
  },
  {
    name: 'page with markup and no text',
    select: text,
    looks: looks([terms, first], [page('<div id="app"></div>'), trouble('page-empty')]),
  },
  {
    name: 'turned into a login',
    select: text,
    looks: looks(
      [terms, first],
      [login, trouble('page-login')],
      [login, trouble('page-login', true)],
      [terms, nothing],
    ),
  },
  {
    name: 'turned into a login where a part was selected',
    select: css('#terms'),
    looks: looks([terms, first], [login, trouble('page-login')]),
  },
  {
    name: 'a login page of its own may be watched',
    select: text,
    looks: looks([login, first], [login.replaceAll('Sign in', 'Sign in now'), change('now')]),
  },
  {
    name: 'turned into a bot wall',
    select: text,
    looks: looks([terms, first], [wall, trouble('page-wall')], [wall, trouble('page-wall', true)], [terms, nothing]),
  },
  {
    name: 'a bot wall at the first look is no copy either',
    select: text,
    looks: looks([wall, trouble('page-wall')], [terms, first]),
  },
  {
    name: 'an article about bot walls is an article',
    select: text,
    looks: looks(
      [page(`${prose(30)}<p>Sites ask you to verify you are human.</p>`), first],
      [page(`${prose(30)}<p>Sites ask you to verify you are human, twice.</p>`), change('twice')],
    ),
  },
  {
    name: 'redirected to the login address without a password field',
    select: text,
    looks: [
      { body: terms, expect: first },
      {
        body: page('<p>Please log in with your company account</p>'),
        url: 'https://sso.example/login?next=x',
        expect: trouble('page-login'),
      },
    ],
  },
  {
    name: 'another trouble is said again',
    select: text,
    looks: looks(
      [terms, first],
      [wall, trouble('page-wall')],
      ['', trouble('page-empty')],
      [wall, trouble('page-wall')],
    ),
  },
];
