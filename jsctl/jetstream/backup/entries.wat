;; The messages of a stream's archive (nats-server, server/archive), counted and filtered where they lie in `memory`.
;;
;; An entry is five numbers (size of the name, zigzag time in ns, sequence, sizes of the header block and of the
;; payload), each as a varint, then name, header block and payload. The state of a walk is at address 0, as
;; `archive.py` reads and writes it:
;;
;;     0  last sequence        8  largest size         16  first-seq filter    24  last-seq filter
;;    32  from time (ns)      40  to time (ns)         48  subjects (i32)      52  excluded subjects (i32)
;;    56  old before (ns)     64  table (i32)          68  slots - 1 (i32)     72  subjects in the table
;;    80  subjects kept       88  messages             96  kept               104  dropped by sequence
;;   112  dropped by time    120  dropped by subject  128  bytes              136  bytes kept
;;   144  old messages kept  152  first sequence      160  first time         168  last time
;;   176  first kept sequence                         184  last name (i32)    188  its size (i32)
;;   192  reason (i32)       196  rows (i32)             200  first kept time     208  last kept time
;;
;; Lists of subjects are patterns, each after its size in two bytes, and end with the size 0; address 0 is no list.
(module
  (memory (export "memory") 2)
  (global $at (mut i32) (i32.const 0))
  (global $end (mut i32) (i32.const 0))
  (global $fault (mut i32) (i32.const 0))

  ;; Walk the entries from $from to $end. $mode 0 only counts; 1 writes the ranges of kept entries to $rows, from and
  ;; to (i32); 2 writes each kept entry: its address, that of its name, the sizes of name, header block and payload
  ;; (i32, then 4 bytes of padding), sequence and time (i64). Returns the address of the first entry not walked, and
  ;; why in the state: 0 it is not complete, 1 it has no sequence, 2 no room for rows, 3 no room in the table,
  ;; 4 not a number, 5 too large, 6 not in order.
  (func (export "walk") (param $from i32) (param $limit i32) (param $rows i32) (param $rows_end i32) (param $mode i32)
    (result i32)
    (local $name i32) (local $name_size i64) (local $time i64) (local $sequence i64) (local $header_size i64)
    (local $payload_size i64) (local $total i64) (local $next i32) (local $slot i32) (local $row i32) (local $reason i32)
    (local.set $row (local.get $rows))
    (global.set $end (local.get $limit))
    (block $stop
      (loop $entry
        (global.set $at (local.get $from))
        (global.set $fault (i32.const 0))
        (local.set $name_size (call $read_number))
        (local.set $time (call $read_number))
        (local.set $sequence (call $read_number))
        (local.set $header_size (call $read_number))
        (local.set $payload_size (call $read_number))
        (if (global.get $fault)
          (then
            (local.set $reason (select (i32.const 4) (i32.const 0) (i32.eq (global.get $fault) (i32.const 2))))
            (br $stop)))
        (local.set $reason (i32.const 1))
        (br_if $stop (i64.eqz (local.get $sequence)))
        (local.set $reason (i32.const 5))
        (br_if $stop (i64.gt_u (local.get $name_size) (i64.const 1048576)))
        (br_if $stop (i64.gt_u (local.get $header_size) (i64.load (i32.const 8))))
        (br_if $stop (i64.gt_u (local.get $payload_size) (i64.load (i32.const 8))))
        (local.set $total (i64.add (local.get $header_size) (local.get $payload_size)))
        (br_if $stop (i64.gt_u (local.get $total) (i64.load (i32.const 8))))
        (local.set $name (global.get $at))
        (local.set $total (i64.add (local.get $total) (local.get $name_size)))
        (local.set $reason (i32.const 6))
        (br_if $stop (i64.le_u (local.get $sequence) (i64.load (i32.const 0))))
        (local.set $reason (i32.const 0))
        (br_if $stop (i64.gt_u (local.get $total) (i64.extend_i32_u (i32.sub (local.get $limit) (local.get $name)))))
        (local.set $next (i32.add (local.get $name) (i32.wrap_i64 (local.get $total))))
        (local.set $reason (i32.const 2))
        (br_if $stop
          (i32.and
            (i32.ne (local.get $mode) (i32.const 0))
            (i32.gt_u (i32.add (local.get $row) (i32.const 40)) (local.get $rows_end))))
        (local.set $reason (i32.const 3))
        (br_if $stop
          (i64.gt_u (i64.shl (i64.load (i32.const 72)) (i64.const 1)) (i64.load32_u (i32.const 68))))

        (local.set $time
          (i64.xor
            (i64.shr_u (local.get $time) (i64.const 1))
            (i64.sub (i64.const 0) (i64.and (local.get $time) (i64.const 1)))))
        ;; what the file store takes for a message (nats-server: fileStoreMsgSizeRaw)
        (local.set $total
          (i64.add
            (local.get $total)
            (select (i64.const 30) (i64.const 34) (i64.eqz (local.get $header_size)))))
        (i64.store (i32.const 0) (local.get $sequence))
        (call $add (i32.const 88) (i64.const 1))
        (call $add (i32.const 128) (local.get $total))
        (if (i64.eqz (i64.load (i32.const 152)))
          (then
            (i64.store (i32.const 152) (local.get $sequence))
            (i64.store (i32.const 160) (local.get $time))))
        (i64.store (i32.const 168) (local.get $time))
        (i32.store (i32.const 184) (local.get $name))
        (i32.store (i32.const 188) (i32.wrap_i64 (local.get $name_size)))
        (local.set $slot
          (call $find_slot
            (call $hash (local.get $name) (i32.wrap_i64 (local.get $name_size)))
            (i32.load (i32.const 64))
            (i32.load (i32.const 68))))
        (block $dropped
          (if
            (i32.or
              (i64.lt_u (local.get $sequence) (i64.load (i32.const 16)))
              (i64.gt_u (local.get $sequence) (i64.load (i32.const 24))))
            (then
              (call $add (i32.const 104) (i64.const 1))
              (br $dropped)))
          (if
            (i32.or
              (i64.lt_s (local.get $time) (i64.load (i32.const 32)))
              (i64.gt_s (local.get $time) (i64.load (i32.const 40))))
            (then
              (call $add (i32.const 112) (i64.const 1))
              (br $dropped)))
          (if
            (call $drops_subject (local.get $name) (i32.add (local.get $name) (i32.wrap_i64 (local.get $name_size))))
            (then
              (call $add (i32.const 120) (i64.const 1))
              (br $dropped)))
          (call $add (i32.const 96) (i64.const 1))
          (call $add (i32.const 136) (local.get $total))
          (if (i64.lt_s (local.get $time) (i64.load (i32.const 56)))
            (then (call $add (i32.const 144) (i64.const 1))))
          (if (i64.eqz (i64.load (i32.const 176)))
            (then
              (i64.store (i32.const 176) (local.get $sequence))
              (i64.store (i32.const 200) (local.get $time))))
          (i64.store (i32.const 208) (local.get $time))
          (if (i64.eqz (i64.and (i64.load (local.get $slot)) (i64.const 1)))
            (then
              (i64.store (local.get $slot) (i64.or (i64.load (local.get $slot)) (i64.const 1)))
              (call $add (i32.const 80) (i64.const 1))))
          (if (i32.eq (local.get $mode) (i32.const 1))
            (then
              (if
                (i32.and
                  (i32.gt_u (local.get $row) (local.get $rows))
                  (i32.eq (i32.load (i32.sub (local.get $row) (i32.const 4))) (local.get $from)))
                (then (i32.store (i32.sub (local.get $row) (i32.const 4)) (local.get $next)))
                (else
                  (i32.store (local.get $row) (local.get $from))
                  (i32.store offset=4 (local.get $row) (local.get $next))
                  (local.set $row (i32.add (local.get $row) (i32.const 8)))))))
          (if (i32.eq (local.get $mode) (i32.const 2))
            (then
              (i32.store (local.get $row) (local.get $from))
              (i32.store offset=4 (local.get $row) (local.get $name))
              (i64.store32 offset=8 (local.get $row) (local.get $name_size))
              (i64.store32 offset=12 (local.get $row) (local.get $header_size))
              (i64.store32 offset=16 (local.get $row) (local.get $payload_size))
              (i64.store offset=24 (local.get $row) (local.get $sequence))
              (i64.store offset=32 (local.get $row) (local.get $time))
              (local.set $row (i32.add (local.get $row) (i32.const 40))))))
        (local.set $from (local.get $next))
        (br $entry)))
    (i32.store (i32.const 192) (local.get $reason))
    (i32.store (i32.const 196) (i32.div_u (i32.sub (local.get $row) (local.get $rows))
      (select (i32.const 8) (i32.const 40) (i32.eq (local.get $mode) (i32.const 1)))))
    (local.get $from))

  (func $add (param $address i32) (param $number i64)
    (i64.store (local.get $address) (i64.add (i64.load (local.get $address)) (local.get $number))))

  ;; Read a varint at $at. Sets $fault to 1 where the data ends first, to 2 for more than 64 bits.
  (func $read_number (result i64)
    (local $number i64) (local $shift i64) (local $byte i64)
    (if (global.get $fault) (then (return (i64.const 0))))
    (loop $next
      (if (i32.ge_u (global.get $at) (global.get $end))
        (then
          (global.set $fault (i32.const 1))
          (return (i64.const 0))))
      (local.set $byte (i64.load8_u (global.get $at)))
      (if (i64.gt_u (local.get $shift) (i64.const 62))
        (then
          (if (i64.gt_u (local.get $byte) (i64.const 1))
            (then
              (global.set $fault (i32.const 2))
              (return (i64.const 0))))))
      (global.set $at (i32.add (global.get $at) (i32.const 1)))
      (local.set $number
        (i64.or
          (local.get $number)
          (i64.shl (i64.and (local.get $byte) (i64.const 127)) (local.get $shift))))
      (local.set $shift (i64.add (local.get $shift) (i64.const 7)))
      (br_if $next (i64.ge_u (local.get $byte) (i64.const 128))))
    (local.get $number))

  ;; Whether a message with this subject is dropped: one that is excluded, or not among the subjects.
  (func $drops_subject (param $s i32) (param $s_end i32) (result i32)
    (if (call $matches_any (i32.load (i32.const 52)) (local.get $s) (local.get $s_end))
      (then (return (i32.const 1))))
    (i32.and
      (i32.ne (i32.load (i32.const 48)) (i32.const 0))
      (i32.eqz (call $matches_any (i32.load (i32.const 48)) (local.get $s) (local.get $s_end)))))

  (func $matches_any (param $pattern i32) (param $s i32) (param $s_end i32) (result i32)
    (local $size i32)
    (if (i32.eqz (local.get $pattern)) (then (return (i32.const 0))))
    (loop $next
      (local.set $size (i32.load16_u (local.get $pattern)))
      (if (i32.eqz (local.get $size)) (then (return (i32.const 0))))
      (local.set $pattern (i32.add (local.get $pattern) (i32.const 2)))
      (if
        (call $matches
          (local.get $pattern)
          (i32.add (local.get $pattern) (local.get $size))
          (local.get $s)
          (local.get $s_end))
        (then (return (i32.const 1))))
      (local.set $pattern (i32.add (local.get $pattern) (local.get $size)))
      (br $next))
    (unreachable))

  ;; Whether the pattern $p..$p_end matches the subject $s..$s_end, token by token.
  (func $matches (param $p i32) (param $p_end i32) (param $s i32) (param $s_end i32) (result i32)
    (loop $token
      (if (call $is_token (local.get $p) (local.get $p_end) (i32.const 0x3e)) ;; >
        (then (return (i32.lt_u (local.get $s) (local.get $s_end)))))
      (if (call $is_token (local.get $p) (local.get $p_end) (i32.const 0x2a)) ;; *
        (then
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (if (i32.ge_u (local.get $s) (local.get $s_end)) (then (return (i32.const 0))))
          (block $end
            (loop $skip
              (br_if $end (i32.ge_u (local.get $s) (local.get $s_end)))
              (br_if $end (i32.eq (i32.load8_u (local.get $s)) (i32.const 0x2e)))
              (local.set $s (i32.add (local.get $s) (i32.const 1)))
              (br $skip))))
        (else
          (block $end
            (loop $same
              (br_if $end (i32.ge_u (local.get $p) (local.get $p_end)))
              (br_if $end (i32.eq (i32.load8_u (local.get $p)) (i32.const 0x2e)))
              (if (i32.ge_u (local.get $s) (local.get $s_end)) (then (return (i32.const 0))))
              (if (i32.ne (i32.load8_u (local.get $p)) (i32.load8_u (local.get $s)))
                (then (return (i32.const 0))))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $s (i32.add (local.get $s) (i32.const 1)))
              (br $same)))))
      (if (i32.eq (local.get $p) (local.get $p_end)) (then (return (i32.eq (local.get $s) (local.get $s_end)))))
      (if (i32.ge_u (local.get $s) (local.get $s_end)) (then (return (i32.const 0))))
      (if (i32.ne (i32.load8_u (local.get $s)) (i32.const 0x2e)) (then (return (i32.const 0))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (local.set $s (i32.add (local.get $s) (i32.const 1)))
      (br $token))
    (unreachable))

  ;; Whether the pattern's token at $p is this one character.
  (func $is_token (param $p i32) (param $p_end i32) (param $character i32) (result i32)
    (if (i32.ge_u (local.get $p) (local.get $p_end)) (then (return (i32.const 0))))
    (if (i32.ne (i32.load8_u (local.get $p)) (local.get $character)) (then (return (i32.const 0))))
    (local.set $p (i32.add (local.get $p) (i32.const 1)))
    (if (i32.eq (local.get $p) (local.get $p_end)) (then (return (i32.const 1))))
    (i32.eq (i32.load8_u (local.get $p)) (i32.const 0x2e)))

  ;; A hash of a subject; its lowest bit is 0, and it is never 0.
  (func $hash (param $at i32) (param $size i32) (result i64)
    (local $hash i64)
    (local.set $hash (i64.extend_i32_u (local.get $size)))
    (block $tail
      (loop $word
        (br_if $tail (i32.lt_u (local.get $size) (i32.const 8)))
        (local.set $hash (call $mix (local.get $hash) (i64.load (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $size (i32.sub (local.get $size) (i32.const 8)))
        (br $word)))
    (if (local.get $size)
      (then
        (local.set $hash
          (call $mix
            (local.get $hash)
            (i64.shl
              (i64.load (local.get $at))
              (i64.extend_i32_u (i32.sub (i32.const 64) (i32.shl (local.get $size) (i32.const 3)))))))))
    (i64.or
      (i64.and (call $mix (local.get $hash) (i64.const 0)) (i64.const -2))
      (i64.const 2)))

  (func $mix (param $hash i64) (param $word i64) (result i64)
    (local.set $hash
      (i64.mul
        (i64.add (i64.xor (local.get $hash) (local.get $word)) (i64.const 0x7f4a7c159e3779b9))
        (i64.const 0x9e3779b97f4a7c15)))
    (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 29))))

  ;; The slot of a hash in a table; a new one is written, and counted. The lowest bit of a slot: a message was kept.
  (func $find_slot (param $hash i64) (param $table i32) (param $mask i32) (result i32)
    (local $slot i32) (local $at i32) (local $found i64)
    (local.set $slot (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 2))))
    (loop $next
      (local.set $at
        (i32.add (local.get $table) (i32.shl (i32.and (local.get $slot) (local.get $mask)) (i32.const 3))))
      (local.set $found (i64.load (local.get $at)))
      (if (i64.eqz (local.get $found))
        (then
          (i64.store (local.get $at) (local.get $hash))
          (call $add (i32.const 72) (i64.const 1))
          (return (local.get $at))))
      (if (i64.eq (i64.and (local.get $found) (i64.const -2)) (local.get $hash)) (then (return (local.get $at))))
      (local.set $slot (i32.add (local.get $slot) (i32.const 1)))
      (br $next))
    (unreachable))

  ;; Move the subjects to a larger table, which is empty: $table with $mask + 1 slots.
  (func (export "grow_table") (param $table i32) (param $mask i32)
    (local $at i32) (local $stop i32)
    (local.set $at (i32.load (i32.const 64)))
    (local.set $stop
      (i32.add (local.get $at) (i32.shl (i32.add (i32.load (i32.const 68)) (i32.const 1)) (i32.const 3))))
    (i64.store (i32.const 72) (i64.const 0))
    (loop $next
      (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
        (then
          (i64.store
            (call $find_slot
              (i64.and (i64.load (local.get $at)) (i64.const -2))
              (local.get $table)
              (local.get $mask))
            (i64.load (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $stop))))
    (i32.store (i32.const 64) (local.get $table))
    (i32.store (i32.const 68) (local.get $mask)))
)
