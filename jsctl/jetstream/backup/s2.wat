;; The blocks of S2 (klauspost/compress, s2): snappy's format with larger blocks and repeats.
;;
;; Offsets and ends are addresses in `memory`. Reads and writes may go up to 64 bytes past the end of a block, in
;; which nothing else may lie. The first 64 KiB are the encoder's table.
(module
  (memory (export "memory") 2)

  ;; Decode the tokens $s..$s_end to exactly $d..$d_end. Returns 0, or 1 for a broken block.
  (func (export "decode") (param $s i32) (param $s_end i32) (param $d i32) (param $d_end i32) (result i32)
    (local $start i32) (local $tag i32) (local $size i32) (local $offset i32) (local $from i32) (local $stop i32)
    (local.set $start (local.get $d))
    (block $broken
      (loop $token
        (if (i32.ge_u (local.get $s) (local.get $s_end))
          (then (return (i32.or (i32.ne (local.get $s) (local.get $s_end)) (i32.ne (local.get $d) (local.get $d_end))))))
        (local.set $tag (i32.load8_u (local.get $s)))
        (block $copy
          (block $literal
            (block $far
              (block $middle
                (block $near
                  (br_table $literal $near $middle $far (i32.and (local.get $tag) (i32.const 3))))
                ;; 1: 4 to 11 bytes from at most 2 KiB before; offset 0 is the last offset again
                (local.set $size (i32.and (i32.shr_u (local.get $tag) (i32.const 2)) (i32.const 7)))
                (local.set $from
                  (i32.or
                    (i32.shl (i32.and (local.get $tag) (i32.const 0xe0)) (i32.const 3))
                    (i32.load8_u offset=1 (local.get $s))))
                (local.set $s (i32.add (local.get $s) (i32.const 2)))
                (if (local.get $from)
                  (then (local.set $offset (local.get $from)))
                  (else
                    (if (i32.eq (local.get $size) (i32.const 5))
                      (then
                        (local.set $size (i32.add (i32.load8_u (local.get $s)) (i32.const 4)))
                        (local.set $s (i32.add (local.get $s) (i32.const 1))))
                      (else
                        (if (i32.eq (local.get $size) (i32.const 6))
                          (then
                            (local.set $size (i32.add (i32.load16_u (local.get $s)) (i32.const 256)))
                            (local.set $s (i32.add (local.get $s) (i32.const 2))))
                          (else
                            (if (i32.eq (local.get $size) (i32.const 7))
                              (then
                                (local.set $size
                                  (i32.add (i32.and (i32.load (local.get $s)) (i32.const 0xffffff)) (i32.const 65536)))
                                (local.set $s (i32.add (local.get $s) (i32.const 3)))))))))))
                (local.set $size (i32.add (local.get $size) (i32.const 4)))
                (br $copy))
              ;; 2: an offset of two bytes
              (local.set $size (i32.add (i32.shr_u (local.get $tag) (i32.const 2)) (i32.const 1)))
              (local.set $offset (i32.load16_u offset=1 (local.get $s)))
              (local.set $s (i32.add (local.get $s) (i32.const 3)))
              (br $copy))
            ;; 3: an offset of four bytes
            (local.set $size (i32.add (i32.shr_u (local.get $tag) (i32.const 2)) (i32.const 1)))
            (local.set $offset (i32.load offset=1 (local.get $s)))
            (local.set $s (i32.add (local.get $s) (i32.const 5)))
            (br $copy))
          ;; 0: bytes that follow; from 60 on, the tag says in how many bytes their number is
          (local.set $size (i32.shr_u (local.get $tag) (i32.const 2)))
          (local.set $s (i32.add (local.get $s) (i32.const 1)))
          (if (i32.ge_u (local.get $size) (i32.const 60))
            (then
              (local.set $tag (i32.sub (local.get $size) (i32.const 59)))
              (local.set $size
                (i32.and
                  (i32.load (local.get $s))
                  (i32.shr_u (i32.const -1) (i32.sub (i32.const 32) (i32.shl (local.get $tag) (i32.const 3))))))
              (local.set $s (i32.add (local.get $s) (local.get $tag)))))
          (br_if $broken (i32.ge_u (local.get $size) (i32.sub (local.get $d_end) (local.get $d))))
          (br_if $broken (i32.gt_u (local.get $s) (local.get $s_end)))
          (br_if $broken (i32.ge_u (local.get $size) (i32.sub (local.get $s_end) (local.get $s))))
          (local.set $size (i32.add (local.get $size) (i32.const 1)))
          (if (i32.le_u (local.get $size) (i32.const 16))
            (then (v128.store (local.get $d) (v128.load (local.get $s))))
            (else (memory.copy (local.get $d) (local.get $s) (local.get $size))))
          (local.set $d (i32.add (local.get $d) (local.get $size)))
          (local.set $s (i32.add (local.get $s) (local.get $size)))
          (br $token))
        ;; copy $size bytes that were decoded $offset bytes before; the two may overlap
        (br_if $broken (i32.gt_u (local.get $size) (i32.sub (local.get $d_end) (local.get $d))))
        (br_if $broken (i32.gt_u (local.get $offset) (i32.sub (local.get $d) (local.get $start))))
        (br_if $broken (i32.eqz (local.get $offset)))
        (local.set $from (i32.sub (local.get $d) (local.get $offset)))
        (local.set $stop (i32.add (local.get $d) (local.get $size)))
        (if (i32.ge_u (local.get $offset) (i32.const 16))
          (then
            (loop $wide
              (v128.store (local.get $d) (v128.load (local.get $from)))
              (local.set $d (i32.add (local.get $d) (i32.const 16)))
              (local.set $from (i32.add (local.get $from) (i32.const 16)))
              (br_if $wide (i32.lt_u (local.get $d) (local.get $stop)))))
          (else
            (loop $byte
              (i32.store8 (local.get $d) (i32.load8_u (local.get $from)))
              (local.set $d (i32.add (local.get $d) (i32.const 1)))
              (local.set $from (i32.add (local.get $from) (i32.const 1)))
              (br_if $byte (i32.lt_u (local.get $d) (local.get $stop))))))
        (local.set $d (local.get $stop))
        (br $token)))
    (i32.const 1))

  ;; Encode $from..$end (at most 4 MiB) as tokens at $d. Returns where they end; 0 if they would not be smaller.
  (func (export "encode") (param $from i32) (param $end i32) (param $d i32) (result i32)
    (local $s i32) (local $literal i32) (local $candidate i32) (local $slot i32) (local $offset i32)
    (local $last_offset i32) (local $search_end i32) (local $d_limit i32) (local $word i64) (local $difference i64)
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536))
    (local.set $s (local.get $from))
    (local.set $literal (local.get $from))
    (local.set $search_end (i32.sub (local.get $end) (i32.const 16)))
    (local.set $d_limit
      (i32.sub
        (i32.add (local.get $d) (i32.sub (local.get $end) (local.get $from)))
        (i32.shr_u (i32.sub (local.get $end) (local.get $from)) (i32.const 5))))
    (block $done
      (loop $search
        (br_if $done (i32.ge_s (local.get $s) (local.get $search_end)))
        (local.set $word (i64.load (local.get $s)))
        (local.set $slot (call $slot_of (local.get $word)))
        (local.set $candidate (i32.load (local.get $slot)))
        (i32.store (local.get $slot) (local.get $s))
        (if
          (i32.or
            (i32.lt_u (local.get $candidate) (local.get $from))
            (i32.ne (i32.load (local.get $candidate)) (i32.wrap_i64 (local.get $word))))
          (then
            ;; the longer nothing is found, the larger the steps: data that does not compress costs little
            (local.set $s
              (i32.add
                (local.get $s)
                (i32.add (i32.shr_u (i32.sub (local.get $s) (local.get $literal)) (i32.const 6)) (i32.const 1))))
            (br $search)))
        (block $begin
          (loop $back
            (br_if $begin (i32.le_u (local.get $s) (local.get $literal)))
            (br_if $begin (i32.le_u (local.get $candidate) (local.get $from)))
            (br_if $begin
              (i32.ne
                (i32.load8_u (i32.sub (local.get $s) (i32.const 1)))
                (i32.load8_u (i32.sub (local.get $candidate) (i32.const 1)))))
            (local.set $s (i32.sub (local.get $s) (i32.const 1)))
            (local.set $candidate (i32.sub (local.get $candidate) (i32.const 1)))
            (br $back)))
        (local.set $d (call $write_literal (local.get $literal) (local.get $s) (local.get $d)))
        (if (i32.gt_u (local.get $d) (local.get $d_limit)) (then (return (i32.const 0))))
        (local.set $offset (i32.sub (local.get $s) (local.get $candidate)))
        (local.set $literal (local.get $s))
        (local.set $s (i32.add (local.get $s) (i32.const 4)))
        (block $differs
          (loop $same
            (br_if $differs (i32.gt_u (local.get $s) (i32.sub (local.get $end) (i32.const 8))))
            (local.set $difference
              (i64.xor (i64.load (local.get $s)) (i64.load (i32.sub (local.get $s) (local.get $offset)))))
            (if (i64.eqz (local.get $difference))
              (then
                (local.set $s (i32.add (local.get $s) (i32.const 8)))
                (br $same)))
            (local.set $s
              (i32.add (local.get $s) (i32.wrap_i64 (i64.shr_u (i64.ctz (local.get $difference)) (i64.const 3)))))))
        (local.set $d
          (call $write_copy
            (local.get $offset)
            (i32.sub (local.get $s) (local.get $literal))
            (i32.eq (local.get $offset) (local.get $last_offset))
            (local.get $d)))
        (local.set $last_offset (local.get $offset))
        (local.set $literal (local.get $s))
        (i32.store
          (call $slot_of (i64.load (i32.sub (local.get $s) (i32.const 2))))
          (i32.sub (local.get $s) (i32.const 2)))
        (br $search)))
    (if (i32.gt_u (i32.add (local.get $d) (i32.sub (local.get $end) (local.get $literal))) (local.get $d_limit))
      (then (return (i32.const 0))))
    (call $write_literal (local.get $literal) (local.get $end) (local.get $d)))

  ;; The address of the table's entry for the first six bytes of a word.
  (func $slot_of (param $word i64) (result i32)
    (i32.shl
      (i32.wrap_i64
        (i64.shr_u
          (i64.mul (i64.shl (local.get $word) (i64.const 16)) (i64.const 227718039650203))
          (i64.const 50)))
      (i32.const 2)))

  (func $write_literal (param $s i32) (param $end i32) (param $d i32) (result i32)
    (local $size i32)
    (local.set $size (i32.sub (local.get $end) (local.get $s)))
    (if (i32.eqz (local.get $size)) (then (return (local.get $d))))
    (if (i32.le_u (local.get $size) (i32.const 60))
      (then
        (i32.store8 (local.get $d) (i32.shl (i32.sub (local.get $size) (i32.const 1)) (i32.const 2)))
        (local.set $d (i32.add (local.get $d) (i32.const 1))))
      (else
        (i32.store8 (local.get $d) (i32.const 0xf8)) ;; its size in three bytes
        (i32.store offset=1 (local.get $d) (i32.sub (local.get $size) (i32.const 1)))
        (local.set $d (i32.add (local.get $d) (i32.const 4)))))
    (if (i32.le_u (local.get $size) (i32.const 16))
      (then (v128.store (local.get $d) (v128.load (local.get $s))))
      (else (memory.copy (local.get $d) (local.get $s) (local.get $size))))
    (i32.add (local.get $d) (local.get $size)))

  ;; Write a copy of $size bytes, 4 or more; what goes beyond one token is a repeat. $again: the last offset was the same.
  (func $write_copy (param $offset i32) (param $size i32) (param $again i32) (param $d i32) (result i32)
    (local $first i32)
    (if (i32.eqz (local.get $again))
      (then
        (if (i32.and (i32.lt_u (local.get $size) (i32.const 12)) (i32.lt_u (local.get $offset) (i32.const 2048)))
          (then
            (i32.store8 (local.get $d)
              (i32.or
                (i32.or (i32.const 1) (i32.shl (i32.sub (local.get $size) (i32.const 4)) (i32.const 2)))
                (i32.shl (i32.shr_u (local.get $offset) (i32.const 8)) (i32.const 5))))
            (i32.store8 offset=1 (local.get $d) (local.get $offset))
            (return (i32.add (local.get $d) (i32.const 2)))))
        ;; 64 bytes at most, but not so many that fewer than 4 are left
        (local.set $first
          (select
            (local.get $size)
            (select (i32.const 60) (i32.const 64) (i32.lt_u (local.get $size) (i32.const 68)))
            (i32.le_u (local.get $size) (i32.const 64))))
        (local.set $size (i32.sub (local.get $size) (local.get $first)))
        (local.set $first (i32.shl (i32.sub (local.get $first) (i32.const 1)) (i32.const 2)))
        (if (i32.lt_u (local.get $offset) (i32.const 65536))
          (then
            (i32.store8 (local.get $d) (i32.or (local.get $first) (i32.const 2)))
            (i32.store16 offset=1 (local.get $d) (local.get $offset))
            (local.set $d (i32.add (local.get $d) (i32.const 3))))
          (else
            (i32.store8 (local.get $d) (i32.or (local.get $first) (i32.const 3)))
            (i32.store offset=1 (local.get $d) (local.get $offset))
            (local.set $d (i32.add (local.get $d) (i32.const 5)))))
        (if (i32.eqz (local.get $size)) (then (return (local.get $d))))))
    (local.set $size (i32.sub (local.get $size) (i32.const 4)))
    (if (i32.le_u (local.get $size) (i32.const 4))
      (then
        (i32.store16 (local.get $d) (i32.or (i32.const 1) (i32.shl (local.get $size) (i32.const 2))))
        (return (i32.add (local.get $d) (i32.const 2)))))
    (if (i32.lt_u (local.get $size) (i32.const 260))
      (then
        (i32.store (local.get $d)
          (i32.or (i32.const 0x15) (i32.shl (i32.sub (local.get $size) (i32.const 4)) (i32.const 16))))
        (return (i32.add (local.get $d) (i32.const 3)))))
    (if (i32.lt_u (local.get $size) (i32.const 65792))
      (then
        (i32.store (local.get $d)
          (i32.or (i32.const 0x19) (i32.shl (i32.sub (local.get $size) (i32.const 256)) (i32.const 16))))
        (return (i32.add (local.get $d) (i32.const 4)))))
    (i32.store16 (local.get $d) (i32.const 0x1d))
    (i32.store offset=2 (local.get $d) (i32.sub (local.get $size) (i32.const 65536)))
    (i32.add (local.get $d) (i32.const 5)))
)
